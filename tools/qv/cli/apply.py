# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell apply: makes a cell as its file says. It creates the cell, replaces a cell that was
made from other files, or leaves it alone.

The driver does not keep the contents of an image. A mark in /run/qv has the hash of all from which
`cell apply` or a unit made the cell. A cell without a mark is replaced."""

from __future__ import annotations

import fcntl
import os

from .. import abi, config, dropin, mark, output
from ..errors import NotLoaded, Refused, WrongConfiguration
from ..heirs import check_no_heir
from .acting import info_or_none
from .create import checked, make
from .export import values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..device import Device
    from ..files import Files
    from ..keys import CellConfig
    from ..system import System
    from .command import Arguments

NONE, START, CREATE, REPLACE, RELOAD = "none", "start", "create", "replace", "reload"
DONE = {
    NONE: "is as its file says: nothing to do",
    START: "is as its file says, and runs now",
    CREATE: "is created and runs",
    REPLACE: "is replaced and runs",
    RELOAD: "belongs to its unit, which has read the file again",
}
WOULD = {
    NONE: "is as its file says: nothing would change",
    START: "is as its file says: it would start",
    CREATE: "is absent: it would be created, and start",
    REPLACE: "would be shut down and replaced",
    RELOAD: "belongs to its unit, which would replace it",
}


def _as_info(request: abi.CellCreate) -> abi.CellInfo:
    """Returns the description that the driver would give of the cell of a request."""
    info = abi.CellInfo()
    given = {field[0] for field in abi.CellCreate._fields_} - {"reply"}
    for field in abi.CellInfo._fields_:
        if field[0] in given:
            setattr(info, field[0], getattr(request, field[0]))
    return info


def _plain(value: str) -> str:
    return " ".join(value.partition("  # ")[0].split())


def changes(info: abi.CellInfo, request: abi.CellCreate) -> list[dict[str, Any]]:
    """Returns the keys whose values differ, as in --json. Null: the key is not there."""
    before, after = values_of(info, {}), values_of(_as_info(request), {})
    return [
        {"key": key, "before": one and _plain(one), "after": other and _plain(other)}
        for key in {**before, **after}
        if (one := before.get(key)) != (other := after.get(key))
    ]


class Cell:
    """The cell of a file, and the cell of its name that exists, if any."""

    def __init__(
        self,
        cell: CellConfig,
        contents: Files,
        device: Device,
        system: System,
        dry_run: bool,
    ) -> None:
        self.dry_run = dry_run
        self.held: int | None = None
        self.cell, self.contents, self.device, self.system = cell, contents, device, system
        self.name, self.digest = cell.name, mark.digest(cell, contents)
        self.folder = os.path.join(system.root, mark.FOLDER)
        enabled = device.status().enabled
        self.info = info_or_none(device, self.name) if enabled else None

    def lock(self) -> bool:
        """Takes the lock of a unit's process, so that no unit begins to keep the cell meanwhile.
        Returns false if such a process keeps the cell running. release() gives it back."""
        how = fcntl.LOCK_EX
        path = os.path.join(self.folder, f"{self.name}.lock")
        try:
            if self.dry_run:
                self.held, how = os.open(path, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_SH
            else:
                self.held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self.held, how | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            return False
        except FileNotFoundError:
            pass  # no unit ever ran
        except PermissionError:
            raise mark.unreadable(path) from None
        if self.dry_run:
            self.release()  # a unit may start while this one only looks
        return True

    def release(self) -> None:
        if self.held is not None:
            os.close(self.held)
        self.held = None

    def made(self) -> mark.Mark | None:
        """Returns the mark of the cell that exists, by `cell apply` or a unit."""
        if self.info is None:
            return None
        facts = mark.facts_of(self.info)
        found = (mark.read(mark.place(self.folder, self.name, kind), True) for kind in mark.KINDS)
        return next((one for one in found if one and one.facts == facts), None)

    def action(self) -> str:
        if self.info is None:
            return CREATE
        made = self.made()
        if made is None or made.digest != self.digest:
            return REPLACE
        return NONE if self.info.state == abi.State.RUNNING else START

    def replace(self, timeout: int) -> None:
        """All that can be known before was checked. If the driver still refuses the new cell, the
        old one is gone: its files may be gone, too."""
        assert self.info is not None
        check_no_heir(self.device, self.name)
        if self.info.state == abi.State.RUNNING:
            self.device.shutdown(self.name, timeout)
        self.device.destroy(self.name)
        try:
            self.create()
        except Refused as refusal:
            raise Refused(
                f"the cell {self.name} of before is gone, and the new one is refused: "
                f"{refusal.sentence}",
                refusal.remedy,
                refusal.code,
            ) from None

    def create(self) -> None:
        make(self.device, self.cell, self.contents, start=True)
        info = self.device.info(self.name)
        os.makedirs(self.folder, exist_ok=True)
        # of a process of the unit that was killed
        mark.forget(self.folder, self.name, mark.OF_UNIT)
        made = mark.Mark(self.digest, mark.facts_of(info), 0)
        mark.write(mark.place(self.folder, self.name, mark.APPLIED), made)


def _wanted(args: Arguments, system: System) -> tuple[CellConfig, Files]:
    """Reads and checks the file. The cell may need resources that its present life has."""
    machine = system.running()
    cell, contents = checked(args.file, True, system, machine.with_all_memory())
    if not any(other.name == cell.name for other in machine.cells):
        checked(args.file, args.force, system, machine)
    if problems := list(config.taken(cell, machine)):
        raise WrongConfiguration(problems)
    return cell, contents


def _alone(name: str, system: System) -> int:
    """Waits until no other `cell apply` works on this cell. Returns a file to close."""
    folder = os.path.join(system.root, mark.FOLDER)
    try:
        os.makedirs(folder, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        found = os.open(os.path.join(folder, f"{name}.apply"), flags, 0o600)
    except PermissionError:
        raise Refused("this needs root", "run it with sudo, or as root") from None
    except OSError as error:
        raise Refused(
            f"{folder} cannot be written ({(error.strerror or 'error').lower()})",
            "run it as root, with a writable /run",
        ) from None
    fcntl.flock(found, fcntl.LOCK_EX)
    return found


def apply(args: Arguments, system: System) -> int:
    cell, contents = _wanted(args, system)
    if args.dry_run:
        return _apply(args, system, cell, contents)
    alone = _alone(cell.name, system)
    try:
        return _apply(args, system, cell, contents)
    finally:
        os.close(alone)


def _apply(args: Arguments, system: System, cell: CellConfig, contents: Files) -> int:
    try:
        device = system.device() if args.dry_run else system.device_or_load()
    except NotLoaded:
        if not args.dry_run:
            raise
        return _report(args, cell.name, CREATE, [])
    what = Cell(cell, contents, device, system, args.dry_run)
    free = what.lock()
    try:
        return _with_lock(args, system, what, free)
    finally:
        what.release()


def _with_lock(args: Arguments, system: System, what: Cell, free: bool) -> int:
    """`free`: no unit keeps the cell, nor can one begin to before this function ends."""
    cell, action = what.cell, what.action()
    found = changes(what.info, cell.request()) if what.info else []
    if action != NONE and not free:
        _check_unit(args, system, what, action)
        action = RELOAD
    known = what.made() is not None
    if not args.dry_run:
        _act(action, what, args, system)
    return _report(args, cell.name, action, found, known)


def _check_unit(args: Arguments, system: System, what: Cell, action: str) -> None:
    """A unit that keeps the cell reads its own file again, and mends no failure by that."""
    unit, file = dropin.unit(what.name), dropin.file_of(system.root, what.name)
    if os.path.realpath(args.file) != os.path.realpath(file):
        raise Refused(
            f"the unit {unit} keeps cell {what.name}, from {file}",
            f"change that file, then: qvctl cell apply {file}",
        )
    if action == START and what.info and what.info.state == abi.State.FAILED:
        raise Refused(
            f"cell {what.name} has failed, its unit {unit} holds it or starts it again, and no "
            "file that makes it has changed",
            f"`qvctl cell show {what.name}` says why it failed; then qvctl cell recover "
            f"{what.name}",
        )


def _act(action: str, what: Cell, args: Arguments, system: System) -> None:
    if action == RELOAD:
        system.systemctl("reload", dropin.unit(what.name))
    elif action == START:
        what.device.start(what.name)
    elif action == REPLACE:
        what.replace(args.timeout)
    elif action == CREATE:
        what.create()


def _report(
    args: Arguments, name: str, action: str, found: list[dict[str, Any]], known: bool = True
) -> int:
    """`known`: the contents of the files of the old cell were known."""
    if args.json:
        data = {"name": name, "action": action, "changes": found, "dry_run": args.dry_run}
        output.as_json(data)
        return 0
    output.line(f"cell {name} {(WOULD if args.dry_run else DONE)[action]}")
    if action not in (REPLACE, RELOAD):
        return 0
    for one in found:
        output.line(f"  {one['key']}: {one['before'] or 'none'} -> {one['after'] or 'none'}")
    if not found:
        output.line(
            "  the contents of its image or of a module have changed"
            if known
            else "  it was not made by `cell apply` or a unit, so its contents are not known"
        )
    return 0
