# SPDX-License-Identifier: GPL-2.0-only
"""Functions that commands share: reports, `--strict`, several names, all cells."""

from __future__ import annotations

from .. import abi, output
from ..condition import state_name
from ..errors import Refused
from ..words import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..device import Device
    from ..system import System
    from .command import Arguments


def done(args: Arguments, reply: abi.Reply | None, sentence: str, **more: object) -> int:
    """Prints that a command succeeded, and the part that the driver could not do. `reply` is None
    if there was nothing to do."""
    note, remedy = (text(reply.text), text(reply.remedy)) if reply else ("", "")
    if args.json:
        took = (
            {"duration_ns": reply.duration_ns, "held_ns": reply.held_ns}
            if reply
            else {"duration_ns": 0, "held_ns": 0}
        )
        if note:
            more |= {"note": note, "remedy": remedy}
        output.as_json({**more, "changed": reply is not None, **took})
    else:
        output.line(f"{sentence} ({output.duration(reply.duration_ns)})" if reply else sentence)
        if note:
            output.complain(f"note: {note}: {remedy}")
    return 0


def unless(
    args: Arguments, act: Callable[[], abi.Reply], code: int, holds: Callable[[], bool]
) -> abi.Reply | None:
    """Calls `act`. If the driver refuses because the wanted state `holds` already, that is success,
    and the result is None. With --strict it is a failure."""
    try:
        return act()
    except Refused as refusal:
        if args.strict or refusal.code != code or not holds():
            raise
        return None


def each(args: Arguments, system: System, one: Callable[[Device, str], object]) -> int:
    """Calls `one` for each of the named cells, and continues after a refusal."""
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


def info_or_none(device: Device, name: str) -> abi.CellInfo | None:
    """Returns None if there is no such cell: another process, such as its unit, may destroy it at
    any time."""
    try:
        return device.info(name)
    except Refused as refusal:
        if refusal.code != abi.Reason.E_NO_CELL:
            raise
        return None


def infos_of(device: Device) -> list[abi.CellInfo]:
    """Returns all cells, without those that are destroyed meanwhile."""
    found = [info_or_none(device, name) for name in device.names()]
    return [info for info in found if info]


def how_things_stand(names: list[str], system: System) -> str:
    """Returns the state after an interruption, in words."""
    try:
        device = system.device()
        if not device.status().enabled:
            return "QV is not enabled"
        there = device.names()
        infos = [(name, info_or_none(device, name)) for name in names]
        found = [
            f"cell {name} is {state_name(info.state) if info else 'not there'}"
            for name, info in infos
        ]
        return "; ".join(found or [f"QV is enabled, cells: {', '.join(there) or 'none'}"])
    except Refused as refusal:
        return refusal.sentence
