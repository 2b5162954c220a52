# SPDX-License-Identifier: GPL-2.0-only
"""qvctl config check, and the devices of a cell, which `cell create` checks too."""

from __future__ import annotations

import os

from .. import abi, config, dropin, order, output, questwords, timing, words
from ..errors import Refused, WrongConfiguration
from ..problems import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..devices import Function
    from ..keys import CellConfig
    from ..machine import Machine
    from ..system import System
    from .command import Arguments


def check(args: Arguments, system: System) -> int:
    machine = system.running()
    cells, problems = config.check_files(args.files, machine)
    if not problems:
        problems = [
            problem
            for cell in cells
            for problem in (*config.taken(cell, machine), *_device_problems(cell, system))
        ]
    warnings = [
        (cell.file, warning)
        for cell in cells
        for warning in (
            *_warnings(cell, machine),
            *questwords.warnings(cell),
            *timing.warnings(system.root, cell.cpus),
            *_unit_warnings(cell, system, machine),
        )
    ]
    scheduled = [cell for cell in cells if args.verbose and cell.vcpus and not problems]
    if scheduled:
        from .. import schedule
    if args.json:
        more = {"schedules": [schedule.facts(cell) for cell in scheduled]} if args.verbose else {}
        output.as_json(
            {
                "ok": not problems,
                "problems": [problem.data() for problem in problems],
                "warnings": [{"file": file, "warning": warning} for file, warning in warnings],
                **more,
            }
        )
        return 2 if problems else 0
    if problems:
        raise WrongConfiguration(problems)
    for file, warning in warnings:
        output.line(f"{file}: warning: {warning}")
    for cell in cells:
        output.line(
            f"{cell.file}: ok: cell {cell.name}, CPUs {words.cpu_list(sorted(cell.cpus))}, "
            f"{words.size(cell.memory)}, {cell.image}"
        )
        if cell in scheduled:
            schedule.show(cell)
    return 0


def _warnings(cell: CellConfig, machine: Machine) -> list[str]:
    """Returns warnings about a file that is correct."""
    found = [
        f"unsafe-dma: {device} can read and write all memory of the machine"
        for device in cell.devices
        if device.dma == abi.Dma.UNSAFE
    ]
    if cell.name in [other.name for other in machine.cells]:
        found.append(
            f"a cell {cell.name} exists: "
            f"`qvctl cell destroy {cell.name}` before this one can be created"
        )
    return found


def _unit_warnings(cell: CellConfig, system: System, machine: Machine) -> list[str]:
    """Compares the file of a unit with the drop-in that systemd has."""
    folder = os.path.realpath(os.path.join(system.root, dropin.CELLS))
    if os.path.dirname(os.path.realpath(cell.file)) != folder:
        return []
    found = []
    if os.path.basename(cell.file) != f"{cell.name}.yaml":
        found.append(
            "the file has another name than its cell, "
            f"so no unit is named qv-cell@{cell.name}: call it {cell.name}.yaml"
        )
    else:
        writers = order.writers(cell, order.described(system.root, machine))
        if dropin.wanted(cell, writers) != dropin.present(system.root, cell.name):
            found.append(
                f"systemd does not know {_waits(cell, writers)} yet: qvctl cell enable {cell.name}"
            )
        if _is_older(cell, system, machine):
            found.append(
                f"the cell {cell.name} was made from another version of this file, "
                "of its image or of a module: "
                f"systemctl restart {dropin.unit(cell.name)}"
            )
    found += [
        f"it waits for cell {name}, which has no file {dropin.file_of(system.root, name)}"
        for name in cell.before()
        if not os.path.exists(dropin.file_of(system.root, name))
    ]
    return found


def _is_older(cell: CellConfig, system: System, machine: Machine) -> bool:
    """Returns whether the cell of the unit is there, and was made from something else."""
    if cell.name not in [other.name for other in machine.cells]:
        return False
    from .. import files, mark

    made = mark.read(mark.place(os.path.join(system.root, mark.FOLDER), cell.name))
    if made is None:
        return False
    try:
        return made.digest != mark.digest(cell, files.read(cell))
    except Refused:
        return True


def _waits(cell: CellConfig, first: Sequence[str]) -> str:
    if not first:
        return "its `after` and `requires`"
    holders = {device.heir_of for device in cell.devices}
    has, writes = "has a PCI function for which it waits", "writes to its channels"
    why = [f"{name} {has if name in holders else writes}" for name in first]
    return f"its `after` and `requires`, and that {' and '.join(why)}"


def functions(cell: CellConfig, system: System) -> list[Function | None]:
    if not cell.devices:
        return []
    from ..devices import Bus

    bus = Bus(system.root)
    return [bus.at(device.bdf) for device in cell.devices if not device.heir_of]


def _device_problems(cell: CellConfig, system: System) -> list[Problem]:
    """Returns the problems that `create` would report for the PCI functions of the cell."""
    found = []
    for function in functions(cell, system):
        wrong, right = (function.why, function.remedy) if function else ("", "")
        if function and function.used:
            wrong, right = (
                f"in use: {'; '.join(function.used)}",
                "end that first, or cell create --force",
            )
        if function and wrong:
            found.append(
                Problem(
                    cell.file, cell.at["devices"], "devices", f"{function.name}: {wrong}", right
                )
            )
    return found
