# SPDX-License-Identifier: GPL-2.0-only
"""The sentences on the figures of placement.py, which draws them."""

from pathlib import Path
from typing import Any

from figure import Shown

TITLE = "Which programs are admitted, in 2 to 64 cells"
WHAT = {
    "programs": "Programs that are admitted, by load", "sets": "Sets of programs that are admitted as a whole, by load",
    "near": "Admitted programs in the cell that they name, by load",
}


def _part(results: dict[str, Any], moves: bool, part: str, whole: str) -> float:
    cases = [case for case in results["cases"] if case["moves"] == moves]
    return float(sum(case[part] for case in cases) / max(sum(case[whole] for case in cases), 1))


def shown(results: dict[str, Any], folder: Path) -> list[Shown]:
    cases = results["cases"]
    bad = sum(case["bad_steps"] for case in cases)
    parts = {"programs": ("accepted", "arrived"), "sets": ("whole_sets", "sets"), "near": ("near", "named")}
    figures = []
    for name, (part, whole) in parts.items():
        if not (folder / f"placement-{name}.svg").exists():
            continue
        without, with_moves = (_part(results, moves, part, whole) for moves in (False, True))
        figures.append(Shown(
            WHAT[name], f"Over all cases, {without:.1%} without moves and {with_moves:.1%} with moves that make room. "
            f"{bad or 'No'} step of a plan broke a guarantee of a program that was admitted before.",
            "The papers have no placement to compare with.",
            sum(case["sets"] for case in cases), not bad, f"placement-{name}.svg"))
    return figures
