# SPDX-License-Identifier: GPL-2.0-only
"""How long a move keeps other threads of both cells from running: a thread of the highest priority
sleeps for short times, and measures how late it runs."""

import re
from pathlib import Path
from typing import Any

from cells import Bench, Cell, bench, say
from figure import Shown

TITLE = "Preemption points of a migration"
SECONDS = 10
HOPS = {"messages": 150, "copy": 400}  # so many take longer than that
KIB = 64
ARENA = 4 << 20
LATE = (1, 5)  # C/T of the thread that measures, in ms
METHODS = {"messages": (10, 200), "copy": (10, 50)}
GOAL_NS = 20_000  # of each system call (inmates/tests/test_worst_calls.py)


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
    with at.cells(*pair(method)):
        if moves:
            at.shell("one", f"moves 1 {HOPS[method]} {KIB} &")
        for cell in ("one", "two"):
            at.shell(cell, f"vcpu=late late {SECONDS} &")
        screens = {cell: at.wait(cell, "late: ") for cell in ("one", "two")}
        said = {
            cell: re.findall(r"late: (\d+) wake-ups, mean (\d+), most (\d+) ns", text)
            for cell, text in screens.items()
        }
        hops = [
            int(n)
            for n in re.findall(r"(\d+) moves", "".join(at.shell(cell, "ps") for cell in said))
        ]
        found = {
            cell: dict(zip(("count", "mean_ns", "most_ns"), map(int, numbers[0]), strict=True))
            for cell, numbers in said.items()
        }
    say(f"late, {method}, {'moves' if moves else 'alone'}: {found}")
    return {"method": method, "moves": moves, "hops": hops, "cells": found}


def run(seed: int, share: float = 1.0) -> dict[str, Any]:
    with bench() as at:
        return {
            "cases": [late(at, "messages", False), *(late(at, method, True) for method in METHODS)]
        }


def draw(results: dict[str, Any], folder: Path) -> None:
    """There is no figure."""


def shown(results: dict[str, Any]) -> list[Shown]:
    rows = [
        [
            f"while a program moves by {one['method']}" if one["moves"] else "alone",
            cell,
            str(found["count"]),
            f"{found['mean_ns'] / 1000:.1f}",
            f"{found['most_ns'] / 1000:.1f}",
        ]
        for one in results["cases"]
        for cell, found in one["cells"].items()
    ]
    alone = max(
        found["most_ns"]
        for one in results["cases"]
        if not one["moves"]
        for found in one["cells"].values()
    )
    most = max(found["most_ns"] for one in results["cases"] for found in one["cells"].values())
    return [
        Shown(
            "Preemption points: how late a thread of the highest priority runs",
            "A program with ten threads and three VCPUs moves to and fro between both cells, so "
            "each of them packs, sends, receives and "
            f"unpacks. A thread that sleeps for 100 to 300 us there runs {most / 1000:.1f} us "
            f"late at most, {alone / 1000:.1f} us without moves.",
            "The dissertation (section 4.3.1) has three preemption points: after each thread, "
            "between the entries of the page directory, and "
            "before the program is bound to its VCPU. Quest packs and unpacks in an ordinary "
            "thread, which can be preempted at any "
            "instruction, except while it changes tables of the kernel: a page or a thread at a "
            "time.",
            sum(found["count"] for one in results["cases"] for found in one["cells"].values()),
            most - alone < GOAL_NS,
            "",
            ["", "cell", "wake-ups", "mean, us late", "most, us late"],
            rows,
        )
    ]
