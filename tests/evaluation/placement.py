# SPDX-License-Identifier: GPL-2.0-only
"""Which part of random programs the placement admits, in 2 to 64 cells, with and without moves that
make room. The code is Quest's own (inmates/quest/placement), compiled for the host."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from typing import Any

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "inmates/quest/sim"), str(TOP / "tools")]

import places  # noqa: E402
from places import Places  # noqa: E402

CELLS = (2, 3, 4, 8, 16, 32, 64)
LOADS = tuple(percent / 100 for percent in range(40, 76, 5))    # of the programs of a cell
PROGRAMS = 4            # number for each cell
LARGEST = 0.5           # load of a program
NEAR = 0.5              # part of the programs that name a cell
SETS = 400              # sets of programs, divided by the number of cells
LEAST_SETS = 15
MOST_TESTS = 20_000     # admission tests for one plan


def _programs(random: Random, cells: int, load: float) -> list[places.Program]:
    found: list[places.Program] = places.random_programs(
        random, PROGRAMS * cells, load * cells, LARGEST)
    for program in found:
        if random.random() < NEAR:
            program.near = random.randrange(cells)
    return found


def _case(seed: int, cells: int, load: float, policy: str, moves: bool) -> dict[str, Any]:
    """Lets sets of programs arrive: the same sets for all policies, with moves and without."""
    sets = max(SETS // cells, LEAST_SETS)
    arrived = accepted = whole = by_moves = moved = named = near = most_tests = bad = 0
    for number in range(sets):
        programs = _programs(Random(f"{seed} {cells} {load} {number}"), cells, load)
        system = Places(places.all_linked(cells), programs)
        found = system.arrive(policy, moves, MOST_TESTS)
        arrived += found.arrived
        accepted += found.accepted
        whole += found.accepted == found.arrived
        by_moves += found.by_moves
        moved += found.moves
        bad += found.bad_steps
        most_tests = max(most_tests, found.most_tests)
        for program, at in zip(programs, system.at):
            named += program.near is not None and at is not None
            near += program.near is not None and program.near == at
    return {"cells": cells, "load": load, "policy": policy, "moves": moves, "sets": sets,
            "arrived": arrived, "accepted": accepted, "whole_sets": whole, "by_moves": by_moves,
            "moved": moved, "bad_steps": bad, "named": named, "near": near,
            "most_tests": most_tests}


def run(seed: int) -> dict[str, Any]:
    """Returns the results of all cases, as data for JSON."""
    return {"seed": seed, "programs_per_cell": PROGRAMS, "largest": LARGEST, "cases": [
        _case(seed, cells, load, policy, moves)
        for cells in CELLS for load in LOADS for policy in places.NAMES for moves in (False, True)]}


def _part(cases: list[dict[str, Any]], part: str, whole: str) -> list[float]:
    return [case[part] / case[whole] if case[whole] else 0.0 for case in cases]


def _of(results: dict[str, Any], **wanted: object) -> list[dict[str, Any]]:
    return [case for case in results["cases"]
            if all(case[key] == value for key, value in wanted.items())]


def draw(results: dict[str, Any], folder: Path) -> list[Path]:
    """Draws the figures as SVG. Returns their files."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    files = []
    figures = (("programs", "accepted", "arrived", "programs admitted"),
               ("sets", "whole_sets", "sets", "sets admitted as a whole"),
               ("near", "near", "named", "programs in the cell that they name"))
    for name, part, whole, label in figures:
        figure, axes = pyplot.subplots(1, len(places.NAMES), figsize=(12, 4), sharey=True)
        for axis, policy in zip(axes, places.NAMES):
            for number, cells in enumerate((2, 8, 64)):
                for moves in (False, True):
                    cases = _of(results, cells=cells, policy=policy, moves=moves)
                    axis.plot([case["load"] for case in cases], _part(cases, part, whole),
                              color=f"C{number}", linestyle="-" if moves else "--",
                              label=f"{cells} cells, {'moves' if moves else 'no moves'}")
            axis.set_title(policy)
            axis.set_xlabel("load of the programs of a cell")
            axis.grid(True, alpha=.3)
        axes[0].set_ylabel(label)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncols=6,
                      fontsize="small")
        figure.tight_layout(rect=(0, .07, 1, 1))
        files.append(folder / f"placement-{name}.svg")
        figure.savefig(files[-1])
        pyplot.close(figure)
    return files
