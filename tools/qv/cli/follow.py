# SPDX-License-Identifier: GPL-2.0-only
"""The commands log and events, which report the past. `events` also tells of components of cells,
which the driver does not know: it looks at the recovery blocks of all cells."""

from __future__ import annotations

import datetime
import re
import time

from .. import abi, output
from ..condition import state_name
from ..device import Device
from ..errors import Refused, WrongUsage
from ..recovery import Recoveries
from ..words import number, text
from .acting import infos_of
from .recovery import block_of, entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .command import Arguments
    from ..recovery import News
    from ..system import System
    from ..transcript import Transcript

LOG_PERIOD = 0.2  # seconds between two reads of the log
BLOCK_PERIOD = 0.2  # seconds between two looks at components
NO_END = (1 << 64) - 1  # abi.Log.until
_LINE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ([^:]*): (.*)")


def log_lines(device: Device, reader: abi.Log) -> Iterator[str]:
    """Yields the lines that `reader` has not had. abi.Log() ends at the line that is the last one
    when the first line is read, whatever is logged meanwhile."""
    while raw := device.log(reader):
        yield from (text(entry) for entry in raw.split(b"\n") if entry)


def _log_data(entry: str) -> dict[str, Any]:
    match = _LINE.fullmatch(entry)
    if not match:
        return {"time_s": None, "source": "", "text": entry}
    return {"time_s": float(match[1]), "source": match[2], "text": match[3]}


def _wanted(args: Arguments) -> Callable[[str], bool]:
    """Returns whether a line is about the cell of --cell, and not older than --since says. A line
    without a time belongs to the line before it."""
    oldest = 0.0
    if args.since is not None:
        oldest = time.clock_gettime(time.CLOCK_BOOTTIME) - args.since
    about = re.compile(rf"(?<![\w-]){re.escape(args.cell)}(?![\w-])") if args.cell else None

    def wanted(entry: str) -> bool:
        found = _log_data(entry)
        if found["time_s"] is not None and found["time_s"] < oldest:
            return False
        return about is None or bool(about.search(f"{found['source']} {found['text']}"))

    return wanted


def log(args: Arguments, system: System) -> int:
    """Prints as --json: one document per line when following, otherwise a single document."""
    if args.previous and args.follow:
        raise WrongUsage("the previous log is complete: leave out -f")
    if args.previous and args.since is not None:
        raise WrongUsage("the times of the previous log are of another boot: leave out --since")
    wanted = _wanted(args)
    device = system.device()
    reader = abi.Log(
        which=abi.WhichLog.PREVIOUS if args.previous else abi.WhichLog.PRESENT,
        until=NO_END if args.follow else 0,
    )
    kept: list[dict[str, Any]] = []
    found = False
    while True:
        for entry in filter(wanted, log_lines(device, reader)):
            found = True
            if not args.json:
                output.line(entry)
            elif args.follow:
                output.as_json(_log_data(entry))
            else:
                kept.append(_log_data(entry))
        if not args.follow:
            break
        system.sleep(LOG_PERIOD)
    if args.json:
        output.as_json({"lines": kept})
    elif args.cell and not found and args.since is None:
        raise Refused(f"the log has no line of a cell {args.cell}", "see `qvctl cell list`")
    return 0


def event_data(event: abi.Event) -> dict[str, Any]:
    types = {member.value: member.name.lower() for member in abi.EventType}
    state = None
    if event.type == abi.EventType.CELL:
        state = state_name(event.state) if event.state else "destroyed"
    elif event.type == abi.EventType.LOCK:
        state = "locked" if event.state else "unlocked"
    return {
        "seq": event.seq,
        "time_ns": event.time_ns,
        "type": types.get(event.type, str(event.type)),
        "name": text(event.name) or None,
        "state": state,
        "text": text(event.text),
    }


def _print_event(args: Arguments, data: dict[str, Any]) -> None:
    if args.json:
        output.as_json(data)
        return
    when = datetime.datetime.fromtimestamp(data["time_ns"] / 1e9)
    subject, state = (data["name"], data["state"]) if data["name"] else ("qv", data["type"])
    # the driver's sentence may begin with the state
    words = data["text"].removeprefix(state).removeprefix(":").strip()
    output.line(f"{when:%H:%M:%S.%f} {subject} {state}{': ' if words else ''}{words}")


def _entry(kind: str, name: str | None, state: str | None, words: str) -> dict[str, Any]:
    return {
        "seq": 0,
        "time_ns": time.time_ns(),
        "type": kind,
        "name": name,
        "state": state,
        "text": words,
    }


def _present(device: Device, system: System) -> list[dict[str, Any]]:
    """Returns the present state as events, since the driver stores no earlier events."""
    enabled = bool(device.status().enabled)
    found = [_entry("enabled" if enabled else "disabled", None, None, "at present")]
    for info in infos_of(device) if enabled else []:
        name = info.name.decode()
        found.append(_entry("cell", name, state_name(info.state), "at present"))
        block = block_of(system, name)
        for one in block.components if block else []:
            words = f"component {one.name}, {number(one.faults, 'fault')}"
            found.append(_entry("component", name, one.state, words))
    return found


class Watched:
    """A cell, and the outages that are printed. Its console is open until the cell is destroyed."""

    def __init__(self) -> None:
        self.console: Transcript | None = None  # None: it cannot be read yet
        self.recoveries = Recoveries()
        self.is_new = False

    def begin(self) -> None:
        """The cell was started: its block is empty."""
        self.recoveries, self.is_new = Recoveries(), True

    def open(self, console: Transcript | None) -> None:
        self.console = console
        if console and not self.is_new:
            self.recoveries.skip(console.recovery())

    def close(self) -> None:
        if self.console:
            self.console.close()

    def news(self) -> list[News]:
        return list(self.recoveries.news(self.console.recovery())) if self.console else []


class Components:
    """The outages of components of all cells from now on. A look reads pages that stay mapped. It
    calls the driver only after an event, since a call waits for longer ones before it."""

    def __init__(self, device: Device, system: System) -> None:
        self.device, self.system = device, system
        self.cells: dict[str, Watched] = {}
        self.tsc_khz, self.is_old = 0, True  # is_old: an event may have changed the list of cells
        self._look_for_cells()

    def note(self, event: abi.Event, lost: bool) -> None:
        """Follows an event, if `lost` after others that are not known."""
        name = text(event.name)
        for one in list(self.cells) if lost else []:
            self._leave(one)
        if event.type == abi.EventType.CELL and event.state == 0:
            self._leave(name)
        elif event.type == abi.EventType.CELL and event.state == abi.State.RUNNING:
            self.cells.setdefault(name, Watched()).begin()
        self.is_old = True

    def _look_for_cells(self) -> None:
        status = self.device.status()
        names = self.device.names() if status.enabled else []
        for name in [one for one in self.cells if one not in names]:
            self._leave(name)
        for name in names:
            self.cells.setdefault(name, Watched())
        self.tsc_khz, self.is_old = status.tsc_khz, False
        self._open()

    def _open(self) -> None:
        for name, cell in self.cells.items():
            if not cell.console:  # udev may have to permit it first
                cell.open(self.system.transcript(name))

    def _leave(self, name: str) -> None:
        if cell := self.cells.pop(name, None):
            cell.close()

    def news(self) -> Iterator[dict[str, Any]]:
        if self.is_old:
            self._look_for_cells()
        self._open()
        for name, cell in self.cells.items():
            for kind, words, _ in entries(name, cell.news(), self.tsc_khz):
                yield _entry("component", name, kind.removeprefix("component-"), words)


def events(args: Arguments, system: System) -> int:
    device = system.device()
    if not args.follow:
        for data in _present(device, system):
            _print_event(args, data)
        return 0
    components, last = Components(device, system), 0
    while True:
        for event in device.events(BLOCK_PERIOD):
            lost = event.seq - last - 1 if last else 0
            if lost > 0 and not args.json:
                output.line(f"({number(lost, 'event')} {'was' if lost == 1 else 'were'} lost)")
            last = event.seq
            components.note(event, lost > 0)
            _print_event(args, event_data(event))
        for data in components.news():
            _print_event(args, data)
