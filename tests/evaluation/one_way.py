# SPDX-License-Identifier: GPL-2.0-only
"""Table 4.2, Figure 4.8: the longest times of 4 MiB that are sent in one direction."""

from pathlib import Path
from typing import Any

from figure import Shown
from messages import MS, agreement, head, kept, measure_all, paint, row, sentence

TITLE = "Messages of many slots in one direction"
TABLE_4_2 = [(20, 50, 20, 50), (10, 100, 10, 100), (10, 100, 10, 50),
             (10, 100, 10, 200), (5, 100, 5, 130), (10, 200, 10, 200)]
BYTES = 4 << 20
STREAMS = 10  # of 1029 slots
S = 1000 * MS


def run(seed: int, share: float = 1.0) -> dict[str, Any]:
    """Runs all cases, with that share of the streams."""
    return measure_all(TABLE_4_2, seed, max(1, round(STREAMS * share)), BYTES)


def draw(results: dict[str, Any], folder: Path) -> None:
    paint(folder / "one_way.svg", results["cases"], S, "equation 4.4 of the paper", logarithmic=True)


def shown(results: dict[str, Any]) -> list[Shown]:
    found = results["cases"]
    return [Shown(
        "Table 4.2, Figure 4.8: longest times of 4 MiB in one direction, in slots of 4 KiB",
        sentence(found, "streams"),
        f"{agreement(found)}: the paper also finds these bounds less tight than those of round trips, since each of the 1029 slots is "
        "charged two waits for budget. Here a slot takes less than a millisecond, so many slots pass while both ends have budget.",
        sum(one["number"] for one in found), kept(found), "one_way.svg", head(S),
        [row(one, S) for one in found])]
