# SPDX-License-Identifier: GPL-2.0-only
"""Commands that change something: enable, disable, and those that create, start, stop and destroy
cells."""

from __future__ import annotations

import os

from . import abi, output, words
from .errors import NotLoaded, Refused, WrongConfiguration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from . import config
    from .cli import Arguments
    from .device import Device
    from .devices import Function
    from .machine import Machine
    from .problems import Problem
    from .system import System


def _done(args: Arguments, reply: abi.Reply | None, sentence: str, **more: object) -> int:
    """`reply` is None if there was nothing to do."""
    if args.json:
        took = {"duration_ns": reply.duration_ns, "held_ns": reply.held_ns} if reply else {"duration_ns": 0, "held_ns": 0}
        output.as_json({**more, "changed": reply is not None, **took})
    else:
        output.line(f"{sentence} ({output.duration(reply.duration_ns)})" if reply else sentence)
    return 0


def _unless(args: Arguments, act: Callable[[], abi.Reply], code: int, holds: Callable[[], bool]) -> abi.Reply | None:
    """Acts. If it is refused because the state `holds` already, this is success (None), unless
    --strict is given."""
    try:
        return act()
    except Refused as refusal:
        if args.strict or refusal.code != code or not holds():
            raise
        return None


def each(args: Arguments, system: System, one: Callable[[Device, str], object]) -> int:
    """Does it to each of the named cells. After a refusal of one cell the others follow."""
    device = system.device()
    status = 0
    for name in args.names:
        try:
            one(device, name)
        except Refused as refusal:
            if len(args.names) == 1:
                raise
            status = output.fail(refusal, args.json, name=name)
    return status


def enable(args: Arguments, system: System) -> int:
    device = system.device_or_load()
    reply = _unless(args, lambda: device.enable(args.strict), abi.Reason.E_ENABLED, lambda: True)
    outside = device.status().cpus_outside
    level = f"; level: {words.outside(outside)}" if outside else ""
    return _done(args, reply, f"QV is enabled{'' if reply else ' already'}: its monitor runs under Linux{level}",
                 enabled=True, cpus_outside=outside)


def disable(args: Arguments, system: System) -> int:
    try:
        device = system.device()
    except NotLoaded:
        if args.strict:
            raise
        return _done(args, None, "QV is disabled: the module qv is not loaded", enabled=False)
    reply = _unless(args, device.disable, abi.Reason.E_NOT_ENABLED, lambda: True)
    return _done(args, reply, f"QV is disabled{'' if reply else ' already'}: Linux has the machine to itself", enabled=False)


def create(args: Arguments, system: System) -> int:
    """Checks everything first. If a later step fails, the steps before it are undone."""
    from . import config  # loading the parser takes longer than everything else

    cells, problems = config.check_files([args.file], system.machine())
    if problems:
        raise WrongConfiguration(problems)
    cell = cells[0]
    image = _read_image(cell.image)
    if not args.force:
        _refuse_used(cell, system)
    device = system.device_or_load()
    enabled_here = not device.status().enabled
    if enabled_here:
        device.enable()
    try:
        reply = device.create(cell.request(), image)
        if args.start:
            _start_or_destroy(device, cell.name)
    except Refused:
        if enabled_here:
            _undo(device.disable)
        raise
    state = abi.State.RUNNING if args.start else abi.State.LOADABLE
    what = "is created and runs" if args.start else f"is created; next: qvctl cell start {cell.name}"
    return _done(args, reply, f"cell {cell.name} {what}", name=cell.name, state=state_name(state))


def _refuse_used(cell: config.CellConfig, system: System) -> None:
    """Checks, before anything is taken, that Linux does not use the devices."""
    for function in _functions(cell, system):
        if function and function.used:
            raise Refused(f"PCI function {function.name} is in use: {'; '.join(function.used)}",
                          "end that first (umount, swapoff, ip link set ... down), or, if Linux may lose it, cell create --force")


def _functions(cell: config.CellConfig, system: System) -> list[Function | None]:
    if not cell.devices:
        return []
    from .devices import Bus

    bus = Bus(system.root)
    return [bus.at(device.bdf) for device in cell.devices]


def _device_problems(cell: config.CellConfig, system: System) -> list[Problem]:
    """The problems that `create` would report for the PCI functions of the cell."""
    from .problems import Problem

    found = []
    for function in _functions(cell, system):
        wrong, right = (function.why, function.remedy) if function else ("", "")
        if function and function.used:
            wrong, right = f"in use: {'; '.join(function.used)}", "end that first, or cell create --force"
        if function and wrong:
            found.append(Problem(cell.file, cell.at["devices"], "devices", f"{function.name}: {wrong}", right))
    return found


def _start_or_destroy(device: Device, name: str) -> None:
    try:
        device.start(name)
    except Refused:
        _undo(lambda: device.destroy(name))
        raise


def _undo(step: Callable[[], object]) -> None:
    """Undoes a step. Reports the refusal that led here, not one of the undoing."""
    try:
        step()
    except Refused:
        pass


def _read_image(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise Refused(f"the image {path} cannot be read ({(error.strerror or 'error').lower()})",
                      "see that the file is there and readable") from None


def start(args: Arguments, system: System) -> int:
    def one(device: Device, name: str) -> None:
        reply = _unless(args, lambda: device.start(name), abi.Reason.E_STATE,
                        lambda: device.info(name).state == abi.State.RUNNING)
        _done(args, reply, f"cell {name} runs{'' if reply else ' already'}", name=name, state="running")
    return each(args, system, one)


def shutdown(args: Arguments, system: System) -> int:
    def one(device: Device, name: str) -> None:
        reply = _unless(args, lambda: device.shutdown(name, args.timeout), abi.Reason.E_STATE,
                        lambda: device.info(name).state != abi.State.RUNNING)
        info = device.info(name)
        state, forced = state_name(info.state), bool(info.forced)
        what = f"does not run: it is {state}" if not reply else \
            "has failed meanwhile: see qvctl cell show" if state == "failed" else \
            f"was stopped by force: it had not ended by itself within {args.timeout} ms" if forced else "is shut down"
        _done(args, reply, f"cell {name} {what}", name=name, state=state, forced=forced)
    return each(args, system, one)


def lock(args: Arguments, system: System) -> int:
    def one(device: Device, name: str) -> None:
        reply = _unless(args, lambda: device.lock(name), abi.Reason.E_STATE, lambda: bool(device.info(name).locked))
        _done(args, reply, f"cell {name} has locked management: only it can unlock", name=name, locked=True)
    return each(args, system, one)


def unlock(args: Arguments, system: System) -> int:
    def one(device: Device, name: str) -> None:
        reply = _unless(args, lambda: device.unlock(name, args.timeout), abi.Reason.E_STATE,
                        lambda: not device.info(name).locked)
        _done(args, reply, f"cell {name} agreed: management is unlocked" if reply else
              f"cell {name} has not locked management", name=name, locked=False)
    return each(args, system, one)


def destroy(args: Arguments, system: System) -> int:
    def one(device: Device, name: str) -> None:
        reply = _unless(args, lambda: device.destroy(name), abi.Reason.E_NO_CELL, lambda: True)
        _done(args, reply, f"cell {name} is destroyed; its CPUs and memory are Linux's again" if reply else
              f"there is no cell {name}: nothing to destroy", name=name, state="destroyed")
    return each(args, system, one)


def how_things_stand(names: list[str], system: System) -> str:
    """The state after an interruption, in words."""
    try:
        device = system.device()
        if not device.status().enabled:
            return "QV is not enabled"
        there = device.names()
        found = [f"cell {name} is {state_name(device.info(name).state) if name in there else 'not there'}" for name in names]
        return "; ".join(found or [f"QV is enabled, cells: {', '.join(there) or 'none'}"])
    except Refused as refusal:
        return refusal.sentence


def check(args: Arguments, system: System) -> int:
    from . import config  # only `create` and this command need it

    machine = system.running()
    cells, problems = config.check_files(args.files, machine)
    if not problems:
        problems = [problem for cell in cells for problem in (
            *config.taken(cell, machine), *_device_problems(cell, system))]
    warnings = [(cell.file, warning) for cell in cells for warning in _warnings(cell, machine)]
    scheduled = [cell for cell in cells if args.verbose and cell.vcpus and not problems]
    if scheduled:
        from . import schedule
    if args.json:
        more = {"schedules": [schedule.facts(cell) for cell in scheduled]} if args.verbose else {}
        output.as_json({"ok": not problems, "problems": [problem.data() for problem in problems],
                                    "warnings": [{"file": file, "warning": warning} for file, warning in warnings], **more})
        return 2 if problems else 0
    if problems:
        raise WrongConfiguration(problems)
    for file, warning in warnings:
        output.line(f"{file}: warning: {warning}")
    for cell in cells:
        output.line(f"{cell.file}: ok: cell {cell.name}, CPUs {words.cpu_list(sorted(cell.cpus))}, "
                    f"{words.size(cell.memory)}, {cell.image}")
        if cell in scheduled:
            schedule.show(cell)
    return 0


def _warnings(cell: config.CellConfig, machine: Machine) -> list[str]:
    """Warnings about a file that is correct."""
    found = [f"unsafe-dma: {device} can read and write all memory of the machine"
             for device in cell.devices if device.dma == abi.Dma.UNSAFE]
    if cell.name in [other.name for other in machine.cells]:
        found.append(f"a cell {cell.name} exists: `qvctl cell destroy {cell.name}` before this one can be created")
    return found


def state_name(state: int) -> str:
    """A state as DESIGN names it: created, loadable, running, shut-down, failed."""
    try:
        return abi.State(state).name.lower().replace("_", "-")
    except ValueError:
        return f"state-{state}"
