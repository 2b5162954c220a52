# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell export: the file that it prints describes the same cell."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import TINY, Run

from qv import abi, config
from qv.machine import Machine

GOOD = Path(__file__).resolve().parents[2] / "tests/unit/config/good"
MACHINE = Machine(frozenset(range(64)), 64 << 30, 64 << 30, (GOOD.parent / "images",))


def described(file: Path) -> abi.CellCreate:
    cell, problems = config.check_file(str(file), MACHINE)
    assert not problems, problems
    return cell.request()


@pytest.mark.parametrize("file", sorted(GOOD.glob("*.yaml")), ids=lambda file: file.stem)
def test_exported_file_describes_the_same_cell(run: Run, file: Path) -> None:
    request = described(file)
    info = abi.CellInfo()
    for name, _ in abi.CellInfo._fields_:
        if name != "reply" and hasattr(request, name):
            setattr(info, name, getattr(request, name))
    name = request.name.decode()
    run.device.cells[name] = info
    assert run("cell", "export", name) == 0, run.err
    folder = run.yaml.parent / "again"
    folder.mkdir()
    (folder / request.image_name.decode()).write_bytes(TINY)
    again = folder / "again.yaml"
    again.write_text(run.out)
    assert bytes(described(again)) == bytes(request), run.out


def test_export_of_a_cell_that_does_not_exist(run: Run) -> None:
    assert run("cell", "export", "quest") == 1
