# SPDX-License-Identifier: GPL-2.0-only
"""qvctl latency: the histograms that an inmate keeps."""

from __future__ import annotations

from contextlib import closing

from .. import output
from ..errors import Refused
from ..latency import BUCKETS, Histogram, end
from . import consoles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..system import System
    from .command import Arguments

SHARES = ((0.5, "P50"), (0.99, "P99"), (0.999, "P99.9"))


def nanoseconds(cycles: int, khz: int) -> int:
    return round(cycles * 1_000_000 / khz)


def histograms_of(system: System, name: str) -> list[Histogram] | None:
    """Returns None if the cell has no console, whose pages have the histograms."""
    transcript = system.transcript(name)
    if transcript is None:
        return None
    with closing(transcript):
        return transcript.histograms()


def histogram_data(found: Histogram, khz: int) -> dict[str, Any]:
    """Returns a histogram as in --json. The last bucket has no end."""
    return {
        "name": found.name,
        "count": found.count(),
        "sum_ns": nanoseconds(found.sum, khz),
        "min_ns": nanoseconds(found.least, khz),
        "max_ns": nanoseconds(found.most, khz),
        **{
            f"{head.lower().replace('.', '_')}_ns": nanoseconds(found.below(share), khz)
            for share, head in SHARES
        },
        "missed": found.missed,
        "buckets": [
            {
                "below_ns": nanoseconds(end(bucket), khz) if bucket < BUCKETS - 1 else None,
                "count": count,
            }
            for bucket, count in enumerate(found.counts)
        ],
    }


def worst(system: System, name: str, khz: int) -> dict[str, Any] | None:
    """Returns the histogram with the longest time of a cell, and how many times all have missed."""
    found = [one for one in histograms_of(system, name) or () if one.count()]
    if not found:
        return None
    longest = max(found, key=lambda one: one.most)
    return {
        "histogram": longest.name,
        "max_ns": nanoseconds(longest.most, khz),
        "missed": sum(one.missed for one in found),
    }


def _row(data: dict[str, Any]) -> list[str]:
    count = data["count"]
    times = [
        data["min_ns"],
        data["sum_ns"] // count if count else 0,
        data["p50_ns"],
        data["p99_ns"],
        data["p99_9_ns"],
        data["max_ns"],
    ]
    shown = (output.duration(time) if count else "" for time in times)
    return [data["name"], str(count), *shown, str(data["missed"])]


def _print_buckets(data: dict[str, Any]) -> None:
    output.line(f"\n{data['name']}:")
    for bucket in data["buckets"]:
        if bucket["count"]:
            limit = (
                "longer"
                if bucket["below_ns"] is None
                else f"below {output.duration(bucket['below_ns'])}"
            )
            output.line(f"  {limit:16} {bucket['count']}")


def latency(args: Arguments, system: System) -> int:
    device = system.device()
    device.info(args.name)  # says so if there is no such cell
    found = histograms_of(system, args.name)
    if found is None:
        raise consoles.unreadable(
            system,
            args.name,
            Refused(
                f"cell {args.name} has no console, whose pages have the histograms",
                "`console: true` in its file",
            ),
        )
    khz = device.status().tsc_khz
    rows = [histogram_data(one, khz) for one in found]
    if args.json:
        output.as_json({"name": args.name, "histograms": rows})
        return 0
    if not rows:
        output.line(f"the inmate of {args.name} keeps no histogram")
        return 0
    output.table(
        ("HISTOGRAM", "COUNT", "MIN", "MEAN", *(head for _, head in SHARES), "MAX", "MISSED"),
        [_row(row) for row in rows],
        frozenset(range(1, 9)),
    )
    for row in rows if args.verbose else []:
        _print_buckets(row)
    return 0
