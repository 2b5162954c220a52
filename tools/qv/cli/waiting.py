# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell wait, cell restart."""

from __future__ import annotations

import fcntl
import os

from .. import abi, dropin, output
from ..condition import state_name
from ..errors import CannotBe, Refused, TimedOut
from .acting import done, each

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..device import Device
    from ..system import System
    from .command import Arguments

LOOK = 0.1  # seconds between two looks for a heartbeat, which is no event
GONE = "destroyed"


def _state(device: Device, name: str) -> tuple[str, bool]:
    """Returns the state of a cell, and whether its inmate is ready: it runs and has a heartbeat."""
    try:
        info = device.info(name)
    except Refused as refusal:
        if refusal.code not in (abi.Reason.E_NO_CELL, abi.Reason.E_NOT_ENABLED):
            raise
        return GONE, False
    return state_name(info.state), info.state == abi.State.RUNNING and bool(info.heartbeat)


def wait(args: Arguments, system: System) -> int:
    """Waits by events. The cell need not exist yet."""
    device = system.device()
    began = system.now()
    until = None if args.timeout is None else began + args.timeout
    existed = False
    while True:
        state, ready = _state(device, args.name)
        if ready if args.state == "ready" else state == args.state:
            break
        if existed and state == GONE:
            raise CannotBe(f"cell {args.name} was destroyed while it was to become {args.state}")
        existed = existed or state != GONE
        left = LOOK if args.state == "ready" else 1.0
        if until is not None:
            left = min(left, until - system.now())
            if left <= 0:
                now = f"cell {args.name} is {state}, and not {args.state},"
                if state == GONE:
                    now = f"there is no cell {args.name}, so it is not {args.state},"
                raise TimedOut(f"{now} after {args.timeout:g} s")
        for _ in device.events(left):
            break
    took = output.duration(round((system.now() - began) * 1e9))
    if args.json:
        output.as_json({"name": args.name, "state": state, "ready": ready})
    else:
        output.line(f"cell {args.name} is {args.state} ({took})")
    return 0


def is_kept(system: System, name: str) -> bool:
    """The process of a unit keeps the cell running."""
    try:
        lock = os.open(
            os.path.join(system.root, "run/qv", f"{name}.lock"), os.O_RDONLY | os.O_CLOEXEC
        )
    except PermissionError:
        raise Refused(
            f"only root may ask whether a unit keeps cell {name}", "run it with sudo, or as root"
        ) from None
    except OSError:
        return False  # no unit has ever kept it
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _refuse_kept(system: System, name: str) -> None:
    """The process of a unit takes an end by another command for a request to end the unit."""
    if is_kept(system, name):
        raise Refused(f"cell {name} is kept by its unit", f"systemctl restart {dropin.unit(name)}")


def restart(args: Arguments, system: System) -> int:
    def one(device: Device, name: str) -> None:
        _refuse_kept(system, name)
        if device.info(name).state == abi.State.RUNNING:
            device.shutdown(name, args.timeout)
        reply = device.start(name)
        done(args, reply, f"cell {name} runs again", name=name, state="running")

    return each(args, system, one)
