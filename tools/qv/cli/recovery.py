# SPDX-License-Identifier: GPL-2.0-only
"""qvctl recovery: the components that an inmate watches, and how it recovered them from faults."""

from __future__ import annotations

from contextlib import closing

from .. import output, recovery as block
from ..errors import Refused
from ..recovery import Against, Block, Outage
from . import consoles
from .latency import nanoseconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..recovery import News
    from ..system import System
    from .command import Arguments


def block_of(system: System, name: str) -> Block | None:
    """Returns None if the cell has no console, whose pages have the block."""
    transcript = system.transcript(name)
    if transcript is None:
        return None
    with closing(transcript):
        return transcript.recovery()


def _outage_data(one: Outage, khz: int) -> dict[str, Any]:
    def time(cycles: int | None) -> int | None:
        return None if cycles is None else nanoseconds(cycles, khz)

    return {
        "number": one.number,
        "component": one.component,
        "detector": one.detector,
        "value": one.value,
        "strategy": one.strategy,
        "at_ns": time(one.at),
        "detected_ns": time(one.detected),
        "stopped_ns": time(one.stopped),
        "started_ns": time(one.started),
        "back_ns": time(one.back),
    }


def recovery_data(found: Block, khz: int) -> dict[str, Any]:
    """Returns the block as in --json. Phases of outages are times after the fault."""
    return {
        "components": [
            {
                "name": one.name,
                "program": one.program,
                "state": one.state,
                "pid": one.pid,
                "starts": one.starts,
                "faults": one.faults,
                "longest_ns": nanoseconds(one.longest, khz),
            }
            for one in found.components
        ],
        "detectors": [
            {
                "name": one.name,
                "bound_ns": nanoseconds(one.bound, khz),
                "latest_ns": nanoseconds(one.latest, khz),
                "found": one.found,
                "looks": one.looks,
                "mean_ns": nanoseconds(one.cycles // one.looks, khz),
            }
            for one in found.detectors
            if one.looks
        ],
        "replicas": [
            {
                "component": one.component,
                "votes": one.votes,
                "page": one.page or None,
                "cells": [
                    {"cell": cell or None, "outvoted": outvoted, "late": late}
                    for cell, outvoted, late in zip(one.cells, one.outvoted, one.late)
                ],
            }
            for one in found.replicas
        ],
        "total": found.total,
        "outages": [_outage_data(one, khz) for one in found.outages],
    }


def _time(value: int | None) -> str:
    return "-" if value is None else output.duration(value)


Rows = list[tuple[tuple[str, ...], list[list[str]], frozenset[int]]]


def tables(data: dict[str, Any]) -> Rows:
    """Returns the tables for a person: heads, rows, and which columns are numbers."""
    found: Rows = [
        (
            ("COMPONENT", "STATE", "PROGRAM", "STARTS", "FAULTS", "LONGEST"),
            [
                [
                    one["name"],
                    one["state"],
                    one["program"],
                    str(one["starts"]),
                    str(one["faults"]),
                    _time(one["longest_ns"] or None),
                ]
                for one in data["components"]
            ],
            frozenset((3, 4, 5)),
        ),
        (
            ("REPLICA", "CELL", "VOTES", "OUTVOTED", "LATE"),
            [
                [
                    one["component"],
                    cell["cell"] or "(this cell)",
                    "-" if cell["cell"] else str(one["votes"]),
                    str(cell["outvoted"]),
                    str(cell["late"]),
                ]
                for one in data["replicas"]
                for cell in one["cells"]
            ],
            frozenset((2, 3, 4)),
        ),
        (
            ("DETECTOR", "BOUND", "LATEST", "FOUND", "LOOKS", "MEAN"),
            [
                [
                    one["name"],
                    _time(one["bound_ns"]),
                    _time(one["latest_ns"] if one["found"] else None),
                    str(one["found"]),
                    str(one["looks"]),
                    _time(one["mean_ns"]),
                ]
                for one in data["detectors"]
            ],
            frozenset(range(1, 6)),
        ),
        (
            (
                "AT",
                "COMPONENT",
                "DETECTOR",
                "VALUE",
                "STRATEGY",
                "DETECTED",
                "STOPPED",
                "STARTED",
                "BACK",
            ),
            [
                [
                    _time(one["at_ns"]),
                    one["component"],
                    one["detector"],
                    str(one["value"]),
                    one["strategy"],
                    *(
                        _time(one[f"{key}_ns"])
                        for key in ("detected", "stopped", "started", "back")
                    ),
                ]
                for one in data["outages"]
            ],
            frozenset((0, 3, 5, 6, 7, 8)),
        ),
    ]
    return [one for one in found if one[1]]


def recovery(args: Arguments, system: System) -> int:
    device = system.device()
    device.info(args.name)  # says so if there is no such cell
    found = block_of(system, args.name)
    if found is None:
        raise consoles.unreadable(
            system,
            args.name,
            Refused(
                f"cell {args.name} has no console, whose pages tell of its components",
                "`console: true` in its file",
            ),
        )
    if found.version and found.version not in block.DETECTORS_OF:
        raise Refused(
            f"the inmate of {args.name} tells of its components in version {found.version}, "
            f"and this qvctl reads versions 1 to {block.VERSION}",
            "a qvctl and an image of the same release",
        )
    data = recovery_data(found, device.status().tsc_khz)
    if args.json:
        output.as_json({"name": args.name, **data})
        return 0
    if not data["components"]:
        output.line(f"the inmate of {args.name} watches no component")
        return 0
    for number, (heads, rows, numbers) in enumerate(tables(data)):
        if number:
            output.line("")
        output.table(heads, rows, numbers)
    return 0


def _entry(cell: str, one: Outage, khz: int) -> tuple[str, str, dict[str, str]]:
    """Returns the entry of an outage: its kind, its sentence and its fields."""
    why = f"{one.detector} {one.value}: {one.strategy}"
    fields = {
        "QV_COMPONENT": one.component,
        "QV_DETECTOR": one.detector,
        "QV_VALUE": str(one.value),
        "QV_STRATEGY": one.strategy,
    }
    whose = f"component {one.component} of cell {cell}"
    if one.strategy == "cell":
        return "component-lost", f"{whose} failed, and the cell with it ({why})", fields
    if one.strategy == "given up":
        return "component-lost", f"{whose} is given up ({why})", fields
    if one.is_left():
        return "component-left", f"{whose} is left to another cell ({why})", fields
    if one.back is None:
        return "component-fault", f"{whose} failed again before it was back ({why})", fields
    length = nanoseconds(one.back, khz)
    fields["QV_OUTAGE_NS"] = str(length)
    return (
        "component-recovered",
        f"{whose} is back after {output.duration(length)} ({why})",
        fields,
    )


def _against(cell: str, one: Against) -> tuple[str, str, dict[str, str]]:
    """Returns the entry of a replica in another cell that this one has found at fault."""
    words = f"{one.outvoted} times outvoted, {one.late} times late"
    return (
        "replica-outvoted",
        f"component {one.component} of cell {one.cell}: {words}, as cell {cell} counts",
        {
            "QV_COMPONENT": one.component,
            "QV_OTHER": one.cell,
            "QV_OUTVOTED": str(one.outvoted),
            "QV_LATE": str(one.late),
        },
    )


def entries(cell: str, news: list[News], khz: int) -> list[tuple[str, str, dict[str, str]]]:
    """Returns entries for the journal: of the last outages, and how many are left out; and of
    replicas in other cells that were at fault."""
    left_out = sum(one for one in news if isinstance(one, int))
    found = [_entry(cell, one, khz) for one in news if isinstance(one, Outage)]
    found += [_against(cell, one) for one in news if isinstance(one, Against)]
    if left_out:
        words = f"{left_out} more faults of components of cell {cell} came too fast to tell each"
        found.insert(0, ("component-fault", words, {}))
    return found
