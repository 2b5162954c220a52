# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell start, shutdown, destroy, lock, unlock: the life of a cell after its creation."""

from __future__ import annotations

from .. import abi
from ..condition import state_name
from .acting import done, each, info_or_none, unless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..device import Device
    from ..system import System
    from .command import Arguments


def start(args: Arguments, system: System) -> int:
    def one(device: Device, name: str) -> None:
        reply = unless(
            args,
            lambda: device.start(name),
            abi.Reason.E_STATE,
            lambda: device.info(name).state == abi.State.RUNNING,
        )
        done(
            args,
            reply,
            f"cell {name} runs{'' if reply else ' already'}",
            name=name,
            state="running",
        )

    return each(args, system, one)


def shutdown(args: Arguments, system: System) -> int:
    def one(device: Device, name: str) -> None:
        reply = unless(
            args,
            lambda: device.shutdown(name, args.timeout),
            abi.Reason.E_STATE,
            lambda: device.info(name).state != abi.State.RUNNING,
        )
        info = info_or_none(device, name)
        state = state_name(info.state) if info else "destroyed"
        forced = bool(info and info.forced)
        what = (
            "has ended, and its unit, or another command, has destroyed it"
            if not info
            else f"does not run: it is {state}"
            if not reply
            else "has failed meanwhile: see qvctl cell show"
            if state == "failed"
            else f"was stopped by force: it had not shut down within {args.timeout} ms"
            if forced
            else "is shut down"
        )
        done(args, reply, f"cell {name} {what}", name=name, state=state, forced=forced)

    return each(args, system, one)


def destroy(args: Arguments, system: System) -> int:
    def one(device: Device, name: str) -> None:
        reply = unless(args, lambda: device.destroy(name), abi.Reason.E_NO_CELL, lambda: True)
        returned = (
            "its memory is Linux's again"
            if reply and reply.text
            else "its CPUs and memory are Linux's again"
        )
        done(
            args,
            reply,
            f"cell {name} is destroyed; {returned}"
            if reply
            else f"there is no cell {name}: nothing to destroy",
            name=name,
            state="destroyed",
        )

    if args.strict or system.is_loaded():
        return each(args, system, one)
    for name in args.names:
        none = f"there is no cell {name}: the module qv is not loaded"
        done(args, None, none, name=name, state="destroyed")
    return 0


def lock(args: Arguments, system: System) -> int:
    def one(device: Device, name: str) -> None:
        reply = unless(
            args,
            lambda: device.lock(name),
            abi.Reason.E_STATE,
            lambda: bool(device.info(name).locked),
        )
        done(
            args,
            reply,
            f"cell {name} has locked management: only it can unlock",
            name=name,
            locked=True,
        )

    return each(args, system, one)


def unlock(args: Arguments, system: System) -> int:
    def one(device: Device, name: str) -> None:
        reply = unless(
            args,
            lambda: device.unlock(name, args.timeout),
            abi.Reason.E_STATE,
            lambda: not device.info(name).locked,
        )
        done(
            args,
            reply,
            f"cell {name} agreed: management is unlocked"
            if reply
            else f"cell {name} has not locked management",
            name=name,
            locked=False,
        )

    return each(args, system, one)
