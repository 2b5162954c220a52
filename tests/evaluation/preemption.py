# SPDX-License-Identifier: GPL-2.0-only
"""How long a move keeps other threads of both cells from running: a thread of the highest priority
sleeps for short times, and measures how late it runs."""

import re
from pathlib import Path
from typing import Any

from cells import Bench, Cell, bench, say
from figure import Shown

TITLE = "Preemption points of a migration"
SECONDS = 4
HOPS = 100000  # more than there are in that time
KIB = 64
CELLS = ("one", "two", "three")
ARENA = 4 << 20
LATE = (1, 5)  # C/T of the thread that measures, in ms
# It takes no part in the moves. The emulator executes the CPUs in turns on one clock, so a thread
# there waits for the turns of busy CPUs, too.
THIRD = Cell("three", 1, {"late": LATE}, "background=off")
METHODS = {"messages": (10, 200), "copy": (10, 50)}
GOAL_US = 20  # of each system call (inmates/tests/test_worst_calls.py)


def pair(method: str) -> list[Cell]:
    arena = method == "copy"
    channels = [
        f"name: {name}, type: mailbox, item: 4096, writer: {a}, readers: [{b}], bell: true"
        for name, a, b in (("there", "one", "two"), ("back", "two", "one"))
    ]
    channels += (
        [
            f"name: {name}, type: memory, item: {ARENA}, writer: {a}, readers: [{b}]"
            for name, a, b in (("first", "one", "two"), ("second", "two", "one"))
        ]
        if arena
        else []
    )
    migrate = ["there,first", "back,second"] if arena else ["there", "back"]
    return [
        Cell(
            name,
            cpu,
            {"migration": METHODS[method], "late": LATE},
            "background=off",
            channels=channels,
            migrate=migrate,
        )
        for name, cpu in (("one", 2), ("two", 3))
    ]


def late(at: Bench, method: str, moves: bool) -> dict[str, Any]:
    with at.cells(*pair(method), THIRD):
        if moves:
            at.shell("one", f"moves 1 {HOPS} {KIB} &")
        # one command of Linux, since each has turns of its own on the emulator
        command = "quesh {} -t 1800 -c 'vcpu=late late {}{}'"
        lines = [command.format(cell, SECONDS, " &" * (cell != "two")) for cell in ("three", "one", "two")]
        said = {"two": at.run("sh", "-c", "; ".join(lines))}
        said |= {cell: at.wait(cell, "late: ") for cell in ("one", "three")}
        # a program that comes gets a new pid
        pids = [
            int(pid)
            for cell in ("one", "two")
            for pid in re.findall(r"(?m)^ *(\d+) .*\bmoves\b.* (?:live|moving) ", at.shell(cell, "ps"))
        ]
        form = r"late: (\d+) wake-ups, mean (\d+), most (\d+) ns,\s+(\d+) us"
        names = ("count", "mean_ns", "most_ns", "limit_us")
        found = {
            cell: dict(zip(names, map(int, re.findall(form, said[cell])[0]), strict=True))
            for cell in CELLS
        }
    if moves != bool(pids):
        raise RuntimeError(f"the program does not move: pids {pids}")
    say(f"late, {method}, {'moves' if moves else 'alone'}: {pids} {found}")
    return {"method": method, "moves": moves, "pids": pids, "cells": found}


def run(seed: int, share: float = 1.0) -> dict[str, Any]:
    with bench() as at:
        return {
            "cases": [late(at, "messages", False), *(late(at, method, True) for method in METHODS)]
        }


def draw(results: dict[str, Any], folder: Path) -> None:
    """There is no figure."""


def limit(results: dict[str, Any], moves: bool, *cells: str) -> int:
    """Returns the us that 999 of 1000 wake-ups of each of these cells are late at most."""
    return max(
        int(one["cells"][cell]["limit_us"])
        for one in results["cases"]
        if one["moves"] == moves
        for cell in cells
    )


def shown(results: dict[str, Any]) -> list[Shown]:
    rows = [
        [
            f"while a program moves by {one['method']}" if one["moves"] else "alone",
            cell,
            str(found["count"]),
            f"{found['mean_ns'] / 1000:.1f}",
            str(found["limit_us"]),
            f"{found['most_ns'] / 1000:.1f}",
        ]
        for one in results["cases"]
        for cell, found in one["cells"].items()
    ]
    moving, alone = (limit(results, moves, "one", "two") for moves in (True, False))
    third, third_alone = (limit(results, moves, "three") for moves in (True, False))
    return [
        Shown(
            "Preemption points: how late a thread of the highest priority runs",
            "A program with ten threads and three VCPUs moves to and fro between two cells, so each "
            "of them packs, sends, receives and unpacks. Of 1000 wake-ups of a thread that sleeps "
            f"for 100 to 300 us there, 999 are at most {moving} us late, and {third} us in a third "
            "cell, which takes no part in the moves; the goal is "
            f"{GOAL_US} us more than there. Without moves it is {alone} us, and {third_alone} us in "
            "the third: on the emulator's common clock a thread waits for the turns of other CPUs, "
            "and moves keep two of them busy.",
            "The dissertation (section 4.3.1) has three preemption points: after each thread, between "
            "the entries of the page directory, and before the program is bound to its VCPU. Quest "
            "packs and unpacks in an ordinary thread, which can be preempted at any instruction, "
            "except while it changes tables of the kernel: a page or a thread at a time.",
            sum(found["count"] for one in results["cases"] for found in one["cells"].values()),
            all(
                found["limit_us"] - one["cells"]["three"]["limit_us"] <= GOAL_US
                for one in results["cases"]
                for found in one["cells"].values()
            ),
            "",
            ["", "cell", "wake-ups", "mean, us late", "999 of 1000, us", "most, us"],
            rows,
        )
    ]
