# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell export: the file that it prints describes the same cell."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import TINY, Run

from qv import abi, config, keys
from qv.cli.export import ROWS, UNIT_ROWS
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
    for module in request.modules[:request.num_modules]:
        (folder / module.args.decode().split(" ")[0]).write_bytes(TINY)
    again = folder / "again.yaml"
    again.write_text(run.out)
    assert bytes(described(again)) == bytes(request), run.out


@pytest.mark.parametrize("file", ["unit", "unit-hold"])
def test_exported_file_has_the_keys_of_the_unit(run: Run, file: str) -> None:
    """A cell that is created from its own export, and exported again, has the same file."""
    kept = Path(run.system.root) / "etc/qv/cells/quest.yaml"
    kept.parent.mkdir(parents=True)
    (kept.parent / "tiny.elf").write_bytes(TINY)
    kept.write_text((GOOD / f"{file}.yaml").read_text())
    first = unit_of(kept)
    assert first != unit_of(run.yaml)
    assert run("cell", "create", str(kept)) == 0, run.err
    assert run("cell", "export", "quest") == 0, run.err
    text = run.out
    kept.write_text(text)
    assert unit_of(kept) == first, text
    run.device.cells.clear()
    assert run("cell", "create", str(kept)) == 0, run.err
    assert run("cell", "export", "quest") == 0 and run.out == text


def unit_of(file: Path) -> list[object]:
    cell, problems = config.check_file(str(file), MACHINE)
    assert not problems, problems
    return [getattr(cell, key.field()) for key in keys.TABLE if key.name in dict(UNIT_ROWS)]


def test_export_names_a_wrong_file_of_the_unit(run: Run) -> None:
    run.create()
    kept = Path(run.system.root) / "etc/qv/cells/quest.yaml"
    kept.parent.mkdir(parents=True)
    kept.write_text("name: quest\nrestart: often\n")
    assert run("cell", "export", "quest") == 0, run.err
    assert run.out.endswith(f"# {kept} is wrong, so its keys for the unit are not here: qvctl config check {kept}\n")
    assert "restart:" not in run.out


def test_export_has_the_lines_of_components(run: Run) -> None:
    """They are in the file of the unit, as long as it has a text of the module's length."""
    kept = Path(run.system.root) / "etc/qv/cells/quest.yaml"
    kept.parent.mkdir(parents=True)
    (kept.parent / "tiny.elf").write_bytes(TINY)
    kept.write_text((GOOD / "recovery.yaml").read_text())
    request = bytes(described(kept))
    assert run("cell", "create", str(kept)) == 0, run.err
    assert run("cell", "export", "quest") == 0, run.err
    assert "\nrecovery: |" in run.out and "recovery=recovery" not in run.out
    again = kept.parent / "again.yaml"
    again.write_text(run.out)
    assert bytes(described(again)) == request, run.out
    kept.write_text(kept.read_text().replace("beat=50ms", "beat=100ms"))
    assert run("cell", "export", "quest") == 0, run.err
    assert "\nrecovery: " not in run.out and "the text of the key `recovery`" in run.out


def test_every_key_is_exported() -> None:
    """`vcpus`, `admission` and `migrate` are in the command line that the driver has; the text of
    `recovery` is a module there."""
    rows = {*dict(ROWS), *dict(UNIT_ROWS), "devices", "modules", "dynamic-channels", "dma-protection", "apic", "standby", "vcpus", "admission", "migrate", "recovery"}
    assert rows == set(keys.BY_NAME)


def test_export_of_a_cell_that_does_not_exist(run: Run) -> None:
    assert run("cell", "export", "quest") == 1
