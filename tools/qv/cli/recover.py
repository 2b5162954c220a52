# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell recover, cell on-failure: failed cells that are held for a person to look at."""

from __future__ import annotations

import os

from .. import abi, config, dropin, output
from ..condition import state_name
from ..errors import Refused
from .acting import done, each
from .waiting import is_kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..device import Device
    from ..system import System
    from .command import Arguments


def choice_file(folder: str, name: str) -> str:
    return os.path.join(folder, f"{name}.on-failure")


def choice(folder: str, name: str, of_file: str) -> str:
    """Returns what the unit does when the cell fails: as `cell on-failure` has said since the unit
    started, else as the cell's file says."""
    try:
        with open(choice_file(folder, name), encoding="utf-8", errors="replace") as stream:
            return stream.read().strip()
    except OSError:
        return of_file


def _present(folder: str, name: str, system: System) -> str:
    """Returns the choice in effect: that of the cell's file unless a command has changed it."""
    if os.path.exists(choice_file(folder, name)):
        return choice(folder, name, "restart")
    file = dropin.file_of(system.root, name)
    cells, problems = config.check_files([file], system.running().with_all_memory())
    if problems:
        raise Refused(
            f"{file} is wrong or absent, so what it says is not known", f"qvctl config check {file}"
        )
    return cells[0].on_failure


def _choose(folder: str, name: str, what: str) -> None:
    path = choice_file(folder, name)
    try:
        with open(f"{path}.new", "w", encoding="utf-8") as stream:
            stream.write(what)
        os.rename(f"{path}.new", path)
    except OSError as error:
        raise Refused(
            f"{path} cannot be written ({(error.strerror or 'error').lower()})", "run it as root"
        ) from None


def on_failure(args: Arguments, system: System) -> int:
    """The unit's process reads the choice at the next failure, and each second while it holds."""
    if not is_kept(system, args.name):
        raise Refused(
            f"no unit keeps cell {args.name}", f"systemctl start {dropin.unit(args.name)}"
        )
    folder = os.path.join(system.root, "run/qv")
    what = args.set or _present(folder, args.name, system)
    if args.set:
        _choose(folder, args.name, what)
    if args.json:
        output.as_json({"name": args.name, "on_failure": what})
    else:
        output.line(
            f"cell {args.name}: "
            + (
                "a failure holds it until qvctl cell recover"
                if what == "hold"
                else "it starts again after a failure"
            )
        )
    return 0


def recover(args: Arguments, system: System) -> int:
    """Starts failed cells again. The unit's process sees it and keeps the cell as before."""

    def one(device: Device, name: str) -> None:
        state = device.info(name).state
        if state != abi.State.FAILED:
            raise Refused(
                f"cell {name} has not failed: it is {state_name(state)}",
                f"qvctl cell start {name}, or cell restart",
            )
        if os.path.exists(os.path.join(system.root, "run/qv", f"{name}.cell")) and not is_kept(
            system, name
        ):
            raise Refused(
                f"cell {name} failed too often, and its unit has ended",
                f"systemctl restart {dropin.unit(name)}",
            )
        reply = device.start(name)
        done(args, reply, f"cell {name} runs again", name=name, state="running")

    return each(args, system, one)
