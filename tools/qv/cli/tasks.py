# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell tasks: the map of an OSEK application, which its console prints.

Linux cannot read the memory of a cell. So the application answers the line `tasks`, which quesh
sends (Documentation/reference/erika.md, Console)."""

from __future__ import annotations

import re

from .. import output
from ..errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..system import System
    from .command import Arguments

STATES = "suspended|ready|waiting|running"
# TASK LEVEL STATE ACTIVATIONS USED STACK [SET/AWAITED]
TASK = re.compile(rf"(\S+) +(\d+) +({STATES}) +(\d+) +(\d+) +(\d+)(?: ([0-9a-f]+)/([0-9a-f]+))?")
INTERRUPTS = re.compile(r"\(interrupts\) +- - +- +(\d+) +(\d+)")


def parsed(text: str) -> dict[str, Any]:
    """Returns the map. Lines that the application printed meanwhile are ignored."""
    tasks = []
    stack = None
    for line in text.splitlines():
        found, last = TASK.fullmatch(line.rstrip()), INTERRUPTS.fullmatch(line.rstrip())
        if found:
            name, level, state, activations, used, size, events, awaited = found.groups()
            tasks.append(
                {
                    "name": name,
                    "level": int(level),
                    "state": state,
                    "activations": int(activations),
                    "stack": {"used": int(used), "size": int(size)},
                    "set": int(events, 16) if events else None,
                    "awaited": int(awaited, 16) if awaited else None,
                }
            )
        if last:
            stack = {"used": int(last[1]), "size": int(last[2])}
    return {"tasks": tasks, "isr_stack": stack}


REMEDY = "an OSEK application whose OIL file has CONSOLE = TRUE"


def asked(name: str, line: str, remedy: str) -> str:
    """Returns what the shell of a cell answers to a line. `remedy` is for a cell that does not know
    the line; when quesh fails itself, it says its own."""
    import subprocess

    try:
        done = subprocess.run(
            ["quesh", name, "-c", line],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise Refused(
            f"quesh: {(error.strerror or 'error').lower()}", "install QV's tools"
        ) from None
    if done.returncode:
        said, _, rest = done.stderr.partition("\n")
        own = re.search(r"(?m)^  remedy: (.+)$", rest)
        raise Refused(
            said.removeprefix("quesh: ") or f"{name} does not know the line `{line}`",
            own[1] if own else remedy,
        )
    return done.stdout


def tasks(args: Arguments, _system: System) -> int:
    found = parsed(asked(args.name, "tasks", REMEDY))
    if not found["tasks"] or not found["isr_stack"]:
        raise Refused(f"{args.name} did not answer with its tasks", REMEDY)
    if args.json:
        output.as_json({"cell": args.name, **found})
        return 0
    rows = [
        [
            t["name"],
            str(t["level"]),
            t["state"],
            str(t["activations"]),
            str(t["stack"]["used"]),
            str(t["stack"]["size"]),
            "" if t["set"] is None else f"{t['set']:x}/{t['awaited']:x}",
        ]
        for t in found["tasks"]
    ]
    stack = found["isr_stack"]
    rows.append(["(interrupts)", "", "", "", str(stack["used"]), str(stack["size"]), ""])
    output.table(
        ("TASK", "LEVEL", "STATE", "ACTIVATIONS", "USED", "STACK", "SET/AWAITED"),
        rows,
        frozenset({1, 3, 4, 5}),
    )
    return 0
