# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell enable and disable, and the drop-ins that they write."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from running import YAML, Run

from qv import config, files, mark
from qv.errors import Refused

UNIT = Path(__file__).resolve().parents[1] / "systemd/qv-cell@.service"
DROP_IN = "etc/systemd/system/qv-cell@quest.service.d/50-qv-file.conf"


@pytest.fixture
def root(run: Run) -> Path:
    root = Path(run.system.root)
    (root / "etc/qv/cells").mkdir(parents=True)
    return root


def describe(root: Path, more: str = "", name: str = "quest") -> Path:
    file = root / f"etc/qv/cells/{name}.yaml"
    image = root.parent / "quest.elf"
    file.write_text(YAML.replace("quest.elf", str(image)).replace("name: quest", f"name: {name}") + more)
    return file


def test_enable_writes_order_of_the_file(run: Run, root: Path) -> None:
    describe(root, "requires: [camera]\nafter: [planner, camera]\n")
    assert run("cell", "enable", "quest", "--now") == 0, run.err
    assert (root / DROP_IN).read_text().partition("\n")[2] == (
        "[Unit]\nWants=qv-cell@camera.service\nPartOf=qv-cell@camera.service\nAfter=qv-cell@planner.service qv-cell@camera.service\n")
    assert run.system.systemd == ["daemon-reload", "enable --now qv-cell@quest.service"]
    assert run.out == "cell quest starts at boot and runs\n"
    assert run("cell", "enable", "quest") == 0
    assert run.system.systemd[2:] == ["enable qv-cell@quest.service"], "nothing has changed"
    describe(root)
    assert run("cell", "enable", "quest") == 0
    assert not (root / DROP_IN).parent.exists()
    assert run.system.systemd[3:] == ["daemon-reload", "enable qv-cell@quest.service"]


def test_disable_works_without_the_file(run: Run, root: Path) -> None:
    file = describe(root, "after: [camera]\n")
    assert run("cell", "enable", "quest") == 0, run.err
    (root / DROP_IN).with_name("own.conf").write_text("[Service]\n")
    file.unlink()
    assert run("cell", "disable", "quest", "--now") == 0, run.err
    assert run.system.systemd[-2:] == ["disable --now qv-cell@quest.service", "daemon-reload"]
    assert [path.name for path in (root / DROP_IN).parent.iterdir()] == ["own.conf"]


def test_disable_of_a_mistyped_name_is_refused(run: Run, root: Path) -> None:
    describe(root)
    assert run("cell", "disable", "quets", "--now") == 1
    assert "no unit of a cell quets starts at boot" in run.err and not run.system.systemd
    assert run("cell", "disable", "quest") == 0, run.err


def test_wrong_file_leaves_all_units_alone(run: Run, root: Path) -> None:
    describe(root, "after: [camera]\n")
    describe(root, "after: camera\n", "other")
    assert run("cell", "enable", "quest", "other") == 2
    assert "other.yaml:5:8: after: the text `camera` is wrong here (a list of cells such as [camera, planner])" in run.err
    assert not (root / DROP_IN).exists() and not run.system.systemd
    describe(root).write_text(describe(root).read_text().replace("name: quest", "name: robot"))
    assert run("cell", "enable", "quest") == 1
    assert "quest.yaml describes a cell named robot" in run.err


SAID = ["cell camera runs (7 ms)\n", "qvctl: CPU 3 is offline\n", "  remedy: echo 1 >online\n"]


def test_reason_of_a_unit_that_does_not_start(run: Run, root: Path,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    describe(root)
    describe(root, name="camera")

    def systemctl(*words: str) -> None:
        if words[0] == "enable" or words == ("is-failed", "qv-cell@quest.service"):
            raise Refused("systemctl enable failed: Job for qv-cell@camera.service failed", "systemctl status")
    asked: list[str] = []

    def journal(*words: str) -> list[str]:
        asked.extend(words)
        return SAID
    monkeypatch.setattr(run.system, "systemctl", systemctl)
    monkeypatch.setattr(run.system, "journal", journal)
    assert run("cell", "enable", "quest", "camera", "--now") == 1
    assert run.err == "qvctl: CPU 3 is offline\n  remedy: systemctl status qv-cell@camera.service\n"
    # of this start alone: the words of its end, and errors
    mine = ["_SYSTEMD_INVOCATION_ID=last-of-qv-cell@camera.service", "SYSLOG_IDENTIFIER=qvctl"]
    assert asked[-7:] == [*mine, "_TRANSPORT=stdout", "+", *mine, "PRIORITY=3"]
    run.system.never.add("qv-cell@camera.service")
    assert run("cell", "enable", "quest", "camera", "--now") == 1
    assert "offline" not in run.err and "Job for qv-cell@camera.service failed" in run.err


def test_reason_of_a_failed_dependency(run: Run, root: Path,
                                       monkeypatch: pytest.MonkeyPatch) -> None:
    """The unit of the cell that needs the other one says it, and systemd shows it as its status."""
    file, why = describe(root, "requires: [camera]\n"), "cell quest requires cell camera, whose unit "
    run.device.enabled = True

    def systemctl(*words: str) -> None:
        assert words == ("is-active", "qv-cell@camera.service")
        raise Refused("systemctl is-active failed: it did not say why")
    monkeypatch.setattr(run.system, "systemctl", systemctl)
    for lines, said in ((SAID, "says: CPU 3 is offline"), ([], "does not run")):
        run.system.entries = lines
        assert run("cell", "run", str(file)) == 4
        remedy = "systemctl status qv-cell@camera.service; when it runs: systemctl start qv-cell@quest.service"
        assert run.err == f"qvctl: {why}{said}\n  remedy: {remedy}\n"
        assert run.system.manager.told[-1] == f"STATUS={why}{said}; remedy: {remedy}"
    assert run.device.calls == []
    monkeypatch.setattr(run.system, "systemctl", lambda *_words: None)
    assert run("cell", "run", str(file)) == 0, run.err


def test_check_compares_file_and_unit(run: Run, root: Path) -> None:
    file = describe(root, "after: [camera]\n")
    assert run("config", "check", str(file)) == 0, run.err
    assert "warning: systemd does not know its `after` and `requires` yet: qvctl cell enable quest\n" in run.out
    assert "warning: it waits for cell camera, which has no file" in run.out
    assert run("cell", "enable", "quest") == 0
    describe(root, name="camera")
    assert run("config", "check", str(file)) == 0
    assert "warning" not in run.out
    describe(root)
    assert run("config", "check", str(file)) == 0
    assert "systemd does not know" in run.out
    other = file.with_name("robot.yaml")
    file.rename(other)
    assert run("config", "check", str(other)) == 0
    assert "the file has another name than its cell, so no unit is named qv-cell@quest: call it quest.yaml" in run.out


def test_check_tells_that_a_cell_was_made_from_another_version(run: Run, root: Path) -> None:
    file, image = describe(root), root.parent / "quest.elf"
    cell, older = config.check_files([str(file)], run.system.running())[0][0], "was made from another version of this file"
    folder = root / mark.FOLDER
    folder.mkdir(parents=True)

    def warnings() -> str:
        return str(run.json("config", "check", str(file), "--json")["warnings"])
    mark.write(mark.place(str(folder), "quest"), mark.Mark("another", "facts", 0))
    assert older not in warnings(), "there is no cell"
    assert run("cell", "create", str(file)) == 0, run.err
    assert older not in warnings(), "no unit has created this one"
    mark.write(mark.place(str(folder), "quest"), mark.Mark("another", "facts", 0))
    assert f"{older}, of its image or of a module: systemctl restart qv-cell@quest.service" in warnings()
    mark.write(mark.place(str(folder), "quest"), mark.Mark(mark.digest(cell, files.read(cell)), "facts", 0))
    assert older not in warnings()
    image.write_bytes(image.read_bytes() + b"\0")
    assert older in warnings()
    (folder / "quest.cell").unlink()
    assert older not in warnings(), "no unit has created it"


def test_cells_that_wait_for_each_other(run: Run, root: Path) -> None:
    first = describe(root, "after: [camera]\n")
    second = describe(root, "requires: [quest]\n", "camera")
    second.write_text(second.read_text().replace("[3]", "[2]"))
    assert run("config", "check", str(first), str(second)) == 2
    assert "camera.yaml:5:11: requires: each waits for the other: this cell and quest in" in run.err


def test_files_outside_the_folder_have_no_unit(run: Run) -> None:
    run.yaml.write_text(YAML + "after: [camera]\n")
    assert run("config", "check", str(run.yaml)) == 0
    assert "warning" not in run.out


def ring(name: str, writer: str, reader: str) -> str:
    return f"{{name: {name}, type: ring, item: 8, slots: 4, writer: {writer}, readers: [{reader}]}}"


def after(root: Path, name: str) -> list[str]:
    file = root / DROP_IN.replace("quest", name)
    lines = file.read_text().splitlines() if file.exists() else []
    return next((line.removeprefix("After=").split() for line in lines if line.startswith("After=")), [])


def link_enabled(root: Path, name: str) -> None:
    """Makes the link that systemctl makes."""
    folder = root / "etc/systemd/system/multi-user.target.wants"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"qv-cell@{name}.service").symlink_to("/usr/lib/systemd/system/qv-cell@.service")


def test_reader_starts_after_the_writer_of_its_channel(run: Run, root: Path) -> None:
    file = describe(root, f"channels: [{ring('frames', 'camera', 'quest')}, {ring('way', 'quest', 'arm')}, "
                          f"{ring('told', 'linux', 'quest')}, {ring('away', 'absent', 'quest')}]\n")
    describe(root, name="planner")
    assert run("cell", "enable", "quest") == 0, run.err
    assert after(root, "quest") == [], "camera has no file"
    link_enabled(root, "quest")
    describe(root, f"channels: [{ring('frames', 'camera', 'quest')}]\n", "camera")
    assert run("config", "check", str(file)) == 0
    assert "systemd does not know its `after` and `requires`, and that camera writes to its channels yet" in run.out
    assert run("cell", "enable", "camera") == 0, run.err
    assert after(root, "quest") == ["qv-cell@camera.service"], "an enabled reader learns of a new writer"
    assert "Wants" not in (root / DROP_IN).read_text() and after(root, "camera") == []
    assert run.system.systemd[-2:] == ["daemon-reload", "enable qv-cell@camera.service"]
    assert run("config", "check", str(file)) == 0 and "systemd does not know" not in run.out
    describe(root, f"channels: [{ring('frames', 'camera', 'quest')}]\nafter: [camera]\n")
    assert run("cell", "enable", "quest") == 0
    assert after(root, "quest") == ["qv-cell@camera.service"], "it is named once"


def test_heir_starts_after_the_cell_that_has_the_function(run: Run, root: Path) -> None:
    file = describe(root, 'devices: [{pci: "00:14.0", heir-of: camera}]\n')
    describe(root, 'devices: [{pci: "00:14.0", dma: off}]\n', "camera")
    assert run("cell", "enable", "quest") == 0, run.err
    assert after(root, "quest") == ["qv-cell@camera.service"] and after(root, "camera") == []
    (root / DROP_IN).unlink()
    link_enabled(root, "quest")
    assert run("config", "check", str(file)) == 0
    assert "and that camera has a PCI function for which it waits yet" in run.out
    describe(root, 'devices: [{pci: "00:14.0", heir-of: quest}]\n', "camera")
    assert run("cell", "enable", "quest") == 0, run.err
    assert after(root, "quest") == [], "each waits for the other one"


def test_channels_make_no_circle(run: Run, root: Path) -> None:
    """Each of two cells writes to the other; a third waits for one of them by its file."""
    both = f"channels: [{ring('there', 'quest', 'arm')}, {ring('back', 'arm', 'quest')}]\n"
    describe(root, both)
    describe(root, both, "arm")
    describe(root, f"channels: [{ring('far', 'eye', 'hand')}]\nafter: [hand]\n", "eye")
    describe(root, f"channels: [{ring('far', 'eye', 'hand')}, {ring('near', 'arm', 'hand')}]\n", "hand")
    for name in ("quest", "arm", "eye", "hand"):
        assert run("cell", "enable", name) == 0, run.err
    assert after(root, "quest") == after(root, "arm") == []
    assert after(root, "eye") == ["qv-cell@hand.service"]
    assert after(root, "hand") == ["qv-cell@arm.service"]


def test_two_writers_of_a_memory_do_not_wait(run: Run, root: Path) -> None:
    shared = "channels: [{name: map, type: memory, item: 64, writers: [quest, arm], readers: [eye]}]\n"
    for name in ("quest", "arm", "eye"):
        describe(root, shared, name)
    for name in ("quest", "arm", "eye"):
        assert run("cell", "enable", name) == 0, run.err
    assert after(root, "quest") == after(root, "arm") == []
    assert after(root, "eye") == ["qv-cell@quest.service", "qv-cell@arm.service"]


def test_wrong_file_of_a_reader_leaves_its_unit(run: Run, root: Path) -> None:
    describe(root, f"channels: [{ring('frames', 'camera', 'quest')}]\n")
    assert run("cell", "enable", "quest") == 0, run.err
    link_enabled(root, "quest")
    describe(root, f"channels: [{ring('frames', 'camera', 'quest')}]\ncpu: 1\n")
    describe(root, f"channels: [{ring('frames', 'camera', 'quest')}]\n", "camera")
    assert run("cell", "enable", "camera") == 0, run.err
    assert after(root, "quest") == []


@pytest.mark.parametrize(("result", "calls"), [
    ("success", ["reset-failed qv-cell@front-left.service"]),
    ("exit-code", []), ("signal", []), ("watchdog", []), ("timeout", []),
])
def test_starts_after_an_orderly_end_are_not_counted(tmp_path: Path, result: str,
                                                     calls: list[str]) -> None:
    """systemd limits the starts of a process that dies, and not those by hand."""
    line, = (line for line in UNIT.read_text().splitlines() if line.startswith("ExecStopPost="))
    words = shlex.split(line.removeprefix("ExecStopPost=-").replace("$$", "$"))
    fake = tmp_path / "systemctl"
    fake.write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/calls\n')
    fake.chmod(0o755)
    subprocess.run([word.replace("%n", "qv-cell@front-left.service") for word in words], check=True,
                   env={"PATH": f"{tmp_path}:/usr/bin:/bin", "SERVICE_RESULT": result})
    found = tmp_path / "calls"
    assert (found.read_text().splitlines() if found.exists() else []) == calls
