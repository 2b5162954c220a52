# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell console-log: the output of a cell's console in the past.

The stream of a console keeps 16 KiB. The process of the cell's unit copies each line to the
journal, which keeps it over restarts of the cell and of the machine, within the limits of
journald.conf."""

from __future__ import annotations

import json

from .. import dropin, output
from ..errors import Refused, WrongUsage
from ..words import text
from . import consoles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..system import System
    from .command import Arguments


def _entries(args: Arguments, system: System) -> Iterator[dict[str, Any]]:
    """Yields the lines as in --json, oldest first. Only root's entries count: any program may write
    an entry with the field QV_CELL."""
    words = ["--output=json", "--output-fields=MESSAGE"]
    words += ["--follow"] if args.follow else []
    words += (
        [f"--lines={args.count}"]
        if args.count is not None
        else ["--lines=all"]
        if args.follow
        else []
    )
    words += [] if args.boot is None else [f"--boot={args.boot}"]
    for entry in system.journal(
        *words, "_UID=0", "SYSLOG_IDENTIFIER=qv-console", f"QV_CELL={args.name}"
    ):
        found = json.loads(entry)
        message = found["MESSAGE"]
        line = (
            message if isinstance(message, str) else bytes(message or ()).decode("utf-8", "replace")
        )
        yield {"time_ns": int(found["__REALTIME_TIMESTAMP"]) * 1000, "line": text(line.encode())}


def _known(system: System) -> list[str]:
    """Returns the names of the cells that exist, have a file for a unit, or are in the journal."""
    found = [text(name.rstrip("\n").encode()) for name in system.journal("--field=QV_CELL")]
    try:
        found += system.device().names()
    except Refused:
        pass  # the driver is not loaded, or this user may not ask it
    return [*found, *dropin.names(system.root)]


def _unknown(args: Arguments, system: System) -> Refused | None:
    """Returns what to say about a name that no cell has or had."""
    import difflib

    known = _known(system)
    if args.name in known:
        return None
    close = difflib.get_close_matches(args.name, known, 3, 0.6)
    near = f" (perhaps {' or '.join(dict.fromkeys(close))})" if close else ""
    return Refused(
        f"there is no cell {args.name}{near}, and the journal has no line of one",
        "qvctl cell list; only root and the group systemd-journal may read all of the journal",
    )


def console_log(args: Arguments, system: System) -> int:
    if args.stream:
        return _stream(args, system)
    if args.follow and (unknown := _unknown(args, system)):
        raise unknown
    some = False
    for entry in _entries(args, system):
        some = True
        if args.json:
            output.as_json({"name": args.name, **entry})
        else:
            output.line(entry["line"])
    if not some:
        raise _unknown(args, system) or Refused(
            f"the journal has no line of cell {args.name}",
            f"qvctl cell console-log {args.name} --stream, if no unit keeps the cell; "
            "only root and the group systemd-journal may read all",
        )
    return 0


def _stream(args: Arguments, system: System) -> int:
    if args.follow or args.count is not None or args.boot is not None:
        raise WrongUsage("--stream prints all that the console holds: leave out -f, -n and --boot")
    transcript = system.transcript(args.name)
    if transcript is None:
        raise consoles.unreadable(
            system,
            args.name,
            Refused(
                f"there is no cell {args.name} with a console",
                "qvctl cell list; the cell's file may say `console: true`",
            ),
        )
    kept = transcript.kept()
    if args.json:
        output.as_json({"name": args.name, "text": kept})
    else:
        output.write(kept)
    return 0
