# SPDX-License-Identifier: GPL-2.0-only
"""The role for many boxes in Documentation/fleet, played by Ansible. The boxes are folders, with
scripts in place of qvctl and systemctl; test_fleet_machine.py has a machine."""

import subprocess
from pathlib import Path

import pytest

from lab import enter, roots
from lab.paths import TOP

FLEET = TOP / "Documentation/fleet"
# A box remembers in its folder that a unit is enabled, and from which file its cell was made.
# `config check` refuses a file with the word `wrong`; a cell that QV_FAILS names does not come;
# a command that begins as QV_DIES fails
HEAD = """#!/bin/sh
me=${0##*/}
echo "$me $*" >>"$QV_LOG"
[ -z "$QV_DIES" ] || case "$me $*" in "$QV_DIES"*) exit 1 ;; esac
"""
QVCTL = HEAD + """
case "$1 $2" in
"config check")
    [ "$3" = --json ] || { ! grep -q wrong "$3"; exit; }
    name=$(basename "$4" .yaml)
    known='systemd does not know its order yet' older=
    [ ! -e "$QV_BOX/enabled-$name" ] || known=
    [ ! -e "$QV_BOX/made-$name" ] || cmp -s "$4" "$QV_BOX/made-$name" ||
        older='the cell was made from another version of this file'
    echo "{\\"ok\\": true, \\"warnings\\": [\\"$known\\", \\"$older\\"]}" ;;
"pool --json") echo "{\\"size\\": $(cat "$QV_BOX/pool" 2>/dev/null || echo 0)}" ;;
"pool --set") echo $((${3%M} << 20)) >"$QV_BOX/pool" ;;
"cell enable") shift 2; for name; do touch "$QV_BOX/enabled-$name"; done ;;
"cell wait") case " $QV_FAILS " in *" $3 "*) echo "qvctl: cell $3 has failed" >&2; exit 3 ;; esac ;;
esac
"""
SYSTEMCTL = HEAD + """
name=${2#qv-cell@}; name=${name%.service}
case $1 in
is-enabled) test -e "$QV_BOX/enabled-$name" ;;
is-active) test -e "$QV_BOX/made-$name" ;;
restart) cp "$QV_BOX/cells/$name.yaml" "$QV_BOX/made-$name" ;;
esac
"""
QUESTIONS = ("qvctl config check", "qvctl pool --json", "systemctl is-")

pytestmark = pytest.mark.slow


class Fleet:
    """Two boxes, each with a cell of its own name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        (folder / "bin").mkdir()
        for name, text in (("qvctl", QVCTL), ("systemctl", SYSTEMCTL)):
            (folder / "bin" / name).write_text(text)
            (folder / "bin" / name).chmod(0o755)
        (folder / "play").mkdir()
        for name in ("site.yml", "roles"):
            (folder / "play" / name).symlink_to(FLEET / name)
        (folder / "play/cells").mkdir()
        lines = []
        for box, cell in (("box1", "quest"), ("box2", "robot")):
            (folder / box / "cells").mkdir(parents=True)
            python = folder / box / "python"  # tells the scripts which box they are on
            python.write_text(f'#!/bin/sh\nQV_BOX={folder / box}\nexport QV_BOX\nexec /usr/bin/python3 "$@"\n')
            python.chmod(0o755)
            self.describe(cell, "first")
            lines.append(f"{box} ansible_connection=local ansible_python_interpreter={python} "
                         f"qv_folder={folder / box} qv_cells='[\"{cell}\"]'\n")
        (folder / "play/inventory.ini").write_text("[qv]\n" + "".join(lines))

    def describe(self, cell: str, text: str) -> None:
        (self.folder / f"play/cells/{cell}.yaml").write_text(f"name: {cell}\n# {text}\n")

    def play(self, *more: str, fails: str = "", dies: str = "") -> "subprocess.CompletedProcess[str]":
        """Plays all but the installation. Returns what Ansible printed."""
        self.log.write_text("")
        return enter.run(roots.ensure("fleet"), [
            "ansible-playbook", "-i", str(self.folder / "play/inventory.ini"), str(self.folder / "play/site.yml"),
            "--skip-tags", "install,metrics", *more], {
                "PATH": f"{self.folder}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "QV_LOG": str(self.log), "QV_FAILS": fails,
                "QV_DIES": dies,                "HOME": str(self.folder), "LC_ALL": "C.UTF-8", "ANSIBLE_NOCOLOR": "1"})

    def deeds(self) -> list[str]:
        lines = self.log.read_text().splitlines()
        return [line for line in lines if not line.startswith(QUESTIONS)]


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path)


def test_example_has_correct_syntax() -> None:
    done = enter.run(roots.ensure("fleet"), ["ansible-playbook", "-i", str(FLEET / "inventory.ini"), str(FLEET / "site.yml"), "--syntax-check"],
                     {"LC_ALL": "C.UTF-8"})
    assert done.returncode == 0 and "ERROR" not in done.stdout, done.stdout


def test_role_describes_cells_and_does_it_once(fleet: Fleet) -> None:
    done = fleet.play()
    assert done.returncode == 0, done.stdout
    each = [["qvctl pool --set 512M", f"qvctl cell enable {cell}", f"systemctl restart qv-cell@{cell}.service",
             f"qvctl cell wait {cell} --state running --timeout 60"] for cell in ("quest", "robot")]
    assert fleet.deeds() == each[0] + each[1], "one box after the other"
    assert (fleet.folder / "box1/qv.conf").read_text() == "QV_POOL=512M\n"
    assert (fleet.folder / "box2/cells/robot.yaml").read_text() == "name: robot\n# first\n"
    done = fleet.play()
    assert done.returncode == 0, done.stdout
    assert fleet.deeds() == [each[0][-1], each[1][-1]], "nothing has changed"


@pytest.mark.parametrize("dies", ["qvctl pool --set", "qvctl cell enable", "systemctl restart"])
def test_next_play_repairs_what_a_play_that_died_has_left(fleet: Fleet, dies: str) -> None:
    for text in ("first", "second"):
        fleet.describe("quest", text)
        broken = fleet.play(dies=dies)
        died = dies == "systemctl restart" or text == "first"
        assert (broken.returncode != 0) is died, broken.stdout
        done = fleet.play()
        assert done.returncode == 0, done.stdout
        assert (f"{dies} " in " ".join(fleet.deeds())) is died
        assert text in (fleet.folder / "box1/made-quest").read_text()
    done = fleet.play()
    assert done.returncode == 0 and len(fleet.deeds()) == 2, "only the cells are awaited"
    assert done.stdout.count("changed=0") == 2, done.stdout


def test_rolling_change_stops_at_the_first_box(fleet: Fleet) -> None:
    assert fleet.play().returncode == 0
    fleet.describe("quest", "second")
    fleet.describe("robot", "second")
    done = fleet.play(fails="quest")
    assert done.returncode != 0 and "qvctl: cell quest has failed" in done.stdout, done.stdout
    assert "second" in (fleet.folder / "box1/cells/quest.yaml").read_text()
    assert "first" in (fleet.folder / "box2/cells/robot.yaml").read_text(), "the second box keeps its cell"
    assert not any("robot" in deed for deed in fleet.deeds())


def test_wrong_file_reaches_no_box(fleet: Fleet) -> None:
    assert fleet.play().returncode == 0
    fleet.describe("quest", "wrong")
    done = fleet.play()
    assert done.returncode != 0, done.stdout
    assert "first" in (fleet.folder / "box1/cells/quest.yaml").read_text()
    assert fleet.deeds() == [], "no cell was touched"
