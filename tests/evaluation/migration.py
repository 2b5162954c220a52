# SPDX-License-Identifier: GPL-2.0-only
"""Tables 4.3 to 4.10, Figures 4.10 to 4.14: a program that finds edges moves after five
seconds, and other VCPUs lose no budget."""

from pathlib import Path
from typing import Any

import boundary
import timeline
from cells import bench
from figure import Shown
from moving import LARGE_KIB, SHIFT, Pair, Setup, measure

TITLE = "Migration beside other VCPUs"
# the longest in which D_mig does not exceed E_m: the CPU time of a move must be below C = 10 ms
BOUNDARY_US = (2, 4, 5, 8, 21)
MOVES_UP_TO_US = 4
SHORT = ("messages", "copy", "delay", "shared")

SETUPS = [
    Setup(
        "messages",
        "Figure 4.10, Table 4.4",
        "by messages of 4 KiB, MIG_RELAX",
        (10, 200),
        "relax",
        direct=False,
        kib=LARGE_KIB,
    ),
    Setup("copy", "Figure 4.11, Table 4.5", "by direct copy, MIG_STRICT", (10, 50), "strict"),
    Setup(
        "delay",
        "Figure 4.12, Tables 4.6 and 4.7",
        "by direct copy, MIG_RELAX, with 800 us for each of 1024 directory entries",
        (10, 50),
        "relax",
        delay_us=800,
        kib=LARGE_KIB,
    ),
    Setup(
        "shared",
        "Figure 4.13",
        "as before, but without a VCPU of the migration thread's own: the receiver of messages "
        "shares it",
        (10, 50),
        "relax",
        delay_us=800,
        shared=True,
        seconds=15,
        kib=LARGE_KIB,
    ),
    Setup(
        "contention",
        "Figure 4.14, Tables 4.9 and 4.10",
        "two sources move a program to the same cell at the same time, with 186 us for each of "
        "1024 directory entries",
        (10, 100),
        "relax",
        delay_us=186,
        third=True,
        at=6,
        seconds=12,
    ),
    *(
        Setup(
            f"boundary-{us}",
            "Table 4.8",
            f"by direct copy, MIG_STRICT, with {us} us for each of 1024 directory entries",
            (10, 50),
            "strict",
            delay_us=us,
            moves=us <= MOVES_UP_TO_US,
            at=3,
            seconds=5,
            kib=0,
        )
        for us in BOUNDARY_US
    ),
]


def run(seed: int, share: float = 1.0) -> dict[str, Any]:
    """A share below 1 leaves out the boundary case and the contention."""
    with bench(shift=SHIFT) as at:
        return {"setups": [measure(at, s) for s in SETUPS if share >= 1 or s.name in SHORT]}


def _pairs(results: dict[str, Any]) -> tuple[list[Pair], list[Pair]]:
    """Returns the set-ups with their results: those with a figure each, and those of the "
    "boundary."""
    setups = {s.name: s for s in SETUPS}
    pairs = [(setups[one["name"]], one) for one in results["setups"]]
    return (
        [pair for pair in pairs if not pair[0].name.startswith("boundary")],
        [pair for pair in pairs if pair[0].name.startswith("boundary")],
    )


def draw(results: dict[str, Any], folder: Path) -> None:
    figures, boundaries = _pairs(results)
    for s, one in figures:
        timeline.draw(s, one, folder / f"migration-{s.name}.svg")
    if boundaries:
        boundary.draw(boundaries, folder / boundary.SVG)


def shown(results: dict[str, Any]) -> list[Shown]:
    figures, boundaries = _pairs(results)
    return [timeline.shown(s, one) for s, one in figures] + (
        [boundary.shown(boundaries)] if boundaries else []
    )
