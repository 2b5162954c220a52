# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell apply on a driver that exists only here."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest
from running import YAML, Run

from qv import abi
from qv.cli import main
from qv.errors import NotLoaded, Refused


@pytest.fixture(autouse=True)
def root(run: Run, tmp_path: Path) -> None:
    run.system.root = str(tmp_path)


def calls(run: Run, *more: str) -> list[str]:
    """Applies the file. Returns the calls that changed something."""
    run.device.calls.clear()
    assert run("cell", "apply", str(run.yaml), *more) == 0, run.err
    return [call.split()[0] for call in run.device.calls]


def test_apply_creates_leaves_alone_and_replaces(run: Run) -> None:
    assert calls(run, "--dry-run") == [] and "cell quest is absent: it would be created, and start\n" in run.out
    assert calls(run) == ["enable", "create", "start"] and run.out == "cell quest is created and runs\n"
    assert calls(run) == [] and run.out == "cell quest is as its file says: nothing to do\n"
    run.yaml.write_text(YAML.replace("64M", "128M") + "debug: true\n")
    assert calls(run, "--dry-run") == []
    said = "  memory: 64M -> 128M\n  debug: false -> true\n"
    assert run.out == f"cell quest would be shut down and replaced\n{said}"
    assert calls(run, "--timeout", "7") == ["shutdown", "destroy", "create", "start"]
    assert run.out == f"cell quest is replaced and runs\n{said}"
    assert run.device.cells["quest"].memory == 128 << 20
    run("cell", "shutdown", "quest")
    assert calls(run) == ["start"]


def test_dry_run_loads_no_module(run: Run) -> None:
    run.system.fake = NotLoaded("there is no /dev/qv", "modprobe qv")
    assert run("cell", "apply", str(run.yaml), "--dry-run") == 0 and "it would be created" in run.out


def test_apply_sees_another_image_of_the_same_name(run: Run, tmp_path: Path) -> None:
    calls(run)
    image = tmp_path / "quest.elf"
    image.write_bytes(image.read_bytes() + b"more")
    assert calls(run) == ["shutdown", "destroy", "create", "start"]
    assert "the contents of its image or of a module have changed" in run.out


def test_cell_that_another_command_made_is_replaced(run: Run) -> None:
    """The contents of its image are not known."""
    run.create("--start")
    assert calls(run, "--dry-run") == [] and "its contents are not known" in run.out
    assert calls(run) == ["shutdown", "destroy", "create", "start"]
    assert calls(run) == []


def test_cell_that_started_again_with_another_id_is_left_alone(run: Run) -> None:
    """The monitor gives the lowest free id, also to a cell that starts again."""
    calls(run)
    run.device.cells["quest"].id = 7
    assert calls(run) == []


def test_mark_of_an_earlier_cell_is_not_believed(run: Run, tmp_path: Path) -> None:
    """Cells that another command made, and the mark of a unit's process that was killed."""
    calls(run)
    image = tmp_path / "quest.elf"
    before = image.read_bytes()
    run("cell", "destroy", "quest")
    image.write_bytes(before + b"more")
    run.create("--start")
    image.write_bytes(before)
    assert calls(run) == ["shutdown", "destroy", "create", "start"]
    assert "its contents are not known" in run.out
    applied = tmp_path / "run/qv/quest.applied"
    applied.rename(tmp_path / "run/qv/quest.cell")
    run("cell", "destroy", "quest")
    image.write_bytes(before + b"more")
    assert calls(run) == ["create", "start"]
    assert calls(run) == []


def test_two_applies_at_once_leave_the_mark_of_the_later(
        run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first has created the cell and not yet left its mark when the second begins."""
    image, real = tmp_path / "quest.elf", run.device.start
    before = image.read_bytes()
    words = ("cell", "apply", str(run.yaml))
    second = threading.Thread(target=lambda: main(words, run.system))  # type: ignore[arg-type]

    def start(name: str) -> abi.Reply:
        answer = real(name)
        monkeypatch.undo()
        image.write_bytes(before + b"more")
        second.start()
        second.join(0.3)
        return answer

    monkeypatch.setattr(run.device, "start", start)
    assert run("cell", "apply", str(run.yaml)) == 0, run.err
    second.join(10)
    assert not second.is_alive()
    assert calls(run) == []
    image.write_bytes(before)
    assert calls(run) == ["shutdown", "destroy", "create", "start"]


def test_apply_leaves_a_cell_to_its_unit(run: Run, tmp_path: Path) -> None:
    calls(run)
    run.yaml.write_text(YAML + "debug: true\n")
    with open(tmp_path / "run/qv/quest.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run("cell", "apply", str(run.yaml)) == 1
        assert "the unit qv-cell@quest.service keeps cell quest, from" in run.err
        file = tmp_path / "etc/qv/cells/quest.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(run.yaml.read_text().replace("quest.elf", str(tmp_path / "quest.elf")))
        run.device.calls.clear()
        found = run.json("cell", "apply", str(file), "--json")
    assert found["action"] == "reload" and [change["key"] for change in found["changes"]] == ["debug"]
    assert run.device.calls == [] and run.system.systemd == ["reload qv-cell@quest.service"]


def test_apply_checks_all_before_it_changes_anything(run: Run, tmp_path: Path) -> None:
    calls(run)
    other = tmp_path / "other.yaml"
    other.write_text(YAML.replace("name: quest", "name: other"))
    run.device.calls.clear()
    assert run("cell", "apply", str(other)) == 2 and "CPU 3 belongs to the cell quest" in run.err
    run.yaml.write_text(YAML.replace("64M", "63M"))
    assert run("cell", "apply", str(run.yaml)) == 2
    assert run.device.calls == []


def test_refused_replacement_says_that_the_old_cell_is_gone(run: Run) -> None:
    calls(run)
    run.yaml.write_text(YAML + "debug: true\n")
    run.device.refuse["create"] = Refused("there is too little memory", "end programs", abi.Reason.E_NO_MEMORY)
    assert run("cell", "apply", str(run.yaml)) == 1
    assert "the cell quest of before is gone, and the new one is refused: there is too little memory" in run.err


def test_no_unit_begins_to_keep_the_cell_while_apply_works(
        run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = run.device.start

    def start(name: str) -> abi.Reply:
        with open(tmp_path / "run/qv/quest.lock", "r+") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return real(name)

    monkeypatch.setattr(run.device, "start", start)
    assert calls(run) == ["enable", "create", "start"]
    with open(tmp_path / "run/qv/quest.lock", "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_apply_names_the_failure_of_a_cell_that_its_unit_holds(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "etc/qv/cells/quest.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(run.yaml.read_text().replace("quest.elf", str(tmp_path / "quest.elf")))
    assert run("cell", "apply", str(file)) == 0, run.err
    run.device.cells["quest"].state = abi.State.FAILED
    with open(tmp_path / "run/qv/quest.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run("cell", "apply", str(file)) == 1
    assert "cell quest has failed, its unit qv-cell@quest.service holds it" in run.err
    assert "qvctl cell recover quest" in run.err and run.system.systemd == []


@pytest.mark.parametrize("name", ["quest.lock", "quest.applied"])
def test_dry_run_takes_nothing_unreadable_for_absent(
        name: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who may look at the cells, but is not root."""
    calls(run)
    real_open, real_os_open = open, os.open

    def refuse(path: object) -> None:
        if str(path).endswith(f"run/qv/{name}"):
            raise PermissionError(13, "Permission denied")

    def opened(path: object, *more: object, **named: object) -> object:
        refuse(path)
        return real_open(path, *more, **named)  # type: ignore[call-overload]

    def os_opened(path: object, *more: object, **named: object) -> int:
        refuse(path)
        return real_os_open(path, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("builtins.open", opened)
    monkeypatch.setattr(os, "open", os_opened)
    assert run("cell", "apply", str(run.yaml), "--dry-run") == 1
    assert f"run/qv/{name} cannot be read" in run.err and "run it as root" in run.err
