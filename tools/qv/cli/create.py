# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell create."""

from __future__ import annotations

import os

from .. import abi, config, files, mark, output
from ..condition import state_name
from ..errors import Refused, WrongConfiguration
from ..heirs import check_holder
from .acting import done
from .check import functions
from .monitor import crash_dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..device import Device
    from ..keys import CellConfig
    from ..machine import Machine
    from ..system import System
    from .command import Arguments


def create(args: Arguments, system: System) -> int:
    """Checks everything first. If a later step fails, the earlier steps are undone."""
    cell, contents = checked(args.file, args.force, system, system.machine())
    device = system.device_or_load()
    enabled = device.status().enabled
    reply = make(device, cell, contents, args.start)
    warning = "" if enabled else crash_dump(device.status(), system)
    if warning:
        output.complain(f"note: QV is enabled, and {warning}")
    for kind in mark.KINDS:
        mark.forget(os.path.join(system.root, mark.FOLDER), cell.name, kind)
    state = abi.State.RUNNING if args.start else abi.State.LOADABLE
    what = (
        "is created and runs" if args.start else f"is created; next: qvctl cell start {cell.name}"
    )
    return done(args, reply, f"cell {cell.name} {what}", name=cell.name, state=state_name(state))


def make(device: Device, cell: CellConfig, contents: files.Files, start: bool) -> abi.Reply:
    """Creates a cell. Enables QV before if necessary. Undoes all if a step is refused."""
    enabled_here = not device.status().enabled
    if enabled_here:
        device.enable()
    try:
        check_holder(device, cell)
        reply = device.create(cell.request(), contents)
        if start:
            _start_or_destroy(device, cell.name)
    except Refused:
        if enabled_here:
            _undo(device.disable)
        raise
    return reply


def checked(
    file: str, force: bool, system: System, machine: Machine
) -> tuple[CellConfig, files.Files]:
    """Returns the cell of a file and the contents of its image and modules."""
    cells, problems = config.check_files([file], machine)
    if problems:
        raise WrongConfiguration(problems)
    contents = files.read(cells[0])
    if not force:
        _refuse_used(cells[0], system)
    return cells[0], contents


def _refuse_used(cell: CellConfig, system: System) -> None:
    """Checks that Linux does not use the devices, before any resource is taken."""
    for function in functions(cell, system):
        if function and function.used:
            raise Refused(
                f"PCI function {function.name} is in use: {'; '.join(function.used)}",
                "end that first (umount, swapoff, ip link set ... down), or, "
                "if Linux may lose it, cell create --force",
            )


def _start_or_destroy(device: Device, name: str) -> None:
    try:
        device.start(name)
    except Refused:
        _undo(lambda: device.destroy(name))
        raise


def _undo(step: Callable[[], object]) -> None:
    """Undoes a step. Reports the first refusal, and not an error during the undoing."""
    try:
        step()
    except Refused:
        pass
