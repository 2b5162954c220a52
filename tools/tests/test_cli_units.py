# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell enable and disable, and the drop-ins that they write."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import YAML, Run

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
        "[Unit]\nRequires=qv-cell@camera.service\nAfter=qv-cell@planner.service qv-cell@camera.service\n")
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


def test_wrong_file_leaves_all_units_alone(run: Run, root: Path) -> None:
    describe(root, "after: [camera]\n")
    describe(root, "after: camera\n", "other")
    assert run("cell", "enable", "quest", "other") == 2
    assert "other.yaml:5:8: after: the text `camera` stands here (a list of cells such as [camera, planner])" in run.err
    assert not (root / DROP_IN).exists() and not run.system.systemd
    describe(root).write_text(describe(root).read_text().replace("name: quest", "name: robot"))
    assert run("cell", "enable", "quest") == 1
    assert "quest.yaml describes a cell named robot" in run.err


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
