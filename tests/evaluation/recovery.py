# SPDX-License-Identifier: GPL-2.0-only
"""Recovery of a component in its cell, and by another cell: how long each phase takes."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from cells import LIMIT, Bench, Cell, bench, say
from figure import OURS, PAPER, Shown, picture
from lab.errors import LabError

TITLE = "Recovery of a component"
GOAL_MS = 50
PAPER_MS = 500  # of a web server and its driver: section 4.6.3
CASES = 10  # of each strategy, with --share 1
PAIR_MS = 40  # of takeover=
# The first checkpoints are saved when a component is some ms old
CRASHES_MS = 60
PHASES = ("detected", "stopped", "started", "back")
# Table 4.11, in cycles: the phases of a NIC driver's recovery
TABLE_4_11 = (
    ("VM-Exit", "885", "885"),
    ("Driver Replacement", "10503", "N/A"),
    ("IPI Round Trip", "N/A", "4542"),
    ("VM-Enter", "663", "663"),
    ("Driver Re-initialization", "1.45E+07", "1.45E+07"),
    ("Network I/F Restart", "78351", "78351"),
)
CHANNELS = [f"name: {a}-memory, type: memory, item: 20480, writer: {a}, readers: [{b}]" for a, b in (("one", "two"), ("two", "one"))]
OTHER = {"one": "two", "two": "one"}


def cell(name: str, words: str, program: str = "duty") -> Cell:
    takeover = f"takeover={name}-memory,{OTHER[name]}-memory,{PAIR_MS}ms"
    line = f"duty 2ms/10ms beat=30ms checkpoint=4112,1s {words} {takeover} : {program}"
    return Cell(name, 3 if name == "one" else 2, channels=CHANNELS, recovery=[line])


def told(at: Bench, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(at.run("qvctl", "--json", "recovery", name))
    return found


def wait_for(at: Bench, name: str, total: int) -> dict[str, Any]:
    """Waits until a cell has recovered its component so often. Returns the last outage."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        found = told(at, name)
        if found["total"] >= total and found["outages"][-1]["back_ns"] is not None:
            return dict(found["outages"][-1])
        time.sleep(0.2)
    raise LabError(f"{name} does not recover its component: {told(at, name)}", "see what it says")


def local(at: Bench, cases: int) -> list[dict[str, Any]]:
    """The component crashes again and again, and rolls back to its checkpoint in its cell."""
    found: dict[int, dict[str, Any]] = {}
    with at.cells(cell("two", "standby"), cell("one", "rollback=16/1ms", f"duty {CRASHES_MS}")):
        while len(found) < cases:
            wait_for(at, "one", len(found) + 1)
            found |= {one["number"]: one for one in told(at, "one")["outages"] if one["back_ns"] is not None}
    return list(found.values())[:cases]


def fail(at: Bench, name: str) -> None:
    at.machine.run(["quesh", name, "-c", "crash memory"], LIMIT)


def remote(at: Bench, cases: int) -> list[dict[str, Any]]:
    """The cell that has the component fails, is started again, and waits; then the other one."""
    found, holder = [], "one"
    with at.cells(cell("two", "standby"), cell("one", "")):
        for _ in range(cases):
            time.sleep(0.5)
            fail(at, holder)
            taker = OTHER[holder]
            found.append(wait_for(at, taker, 1))
            at.run("qvctl", "cell", "start", holder)
            end = time.monotonic() + LIMIT
            while time.monotonic() < end and "standby" not in [c["state"] for c in told(at, holder)["components"]]:
                time.sleep(0.2)
            holder = taker
    return found


def left(at: Bench, cases: int) -> list[dict[str, Any]]:
    """The component crashes, and its cell leaves it to the other one."""
    found = []
    for _ in range(cases):
        with at.cells(cell("two", "standby"), cell("one", "", f"duty {CRASHES_MS}")):
            found.append(wait_for(at, "two", 1))
    return found


WAYS = (
    ("in its cell: rollback", "rollback", local, 1.0),
    ("cell failed: take-over", "takeover", remote, 1.0),
    ("component failed: take-over", "takeover", left, 0.3),
)


def run(seed: int, share: float = 1.0) -> dict[str, Any]:
    ways = []
    with bench() as at:
        for name, strategy, measure, part in WAYS:
            outages = measure(at, max(2, int(CASES * share * part)))
            wrong = [one for one in outages if one["strategy"] != strategy]
            if wrong:
                raise LabError(f"{name}: not every outage is one of {strategy}: {wrong}", "see what they are")
            say(f"{name}: {outages}")
            ways.append({"name": name, "outages": outages})
    return {"ways": ways}


def times(way: dict[str, Any], phase: str) -> list[float]:
    """Returns in ms how long after the fault a phase was over, of each outage."""
    return [one[f"{phase}_ns"] / 1e6 for one in way["outages"]]


def draw(results: dict[str, Any], folder: Path) -> None:
    ways = results["ways"]

    def paint(axes: Any) -> None:
        axes.barh(range(len(ways)), [max(times(way, "back")) for way in ways], 0.5, color=OURS, label="back, longest")
        axes.axvline(GOAL_MS, color="black", linestyle="dotted", label="goal")
        axes.axvline(PAPER_MS, color=PAPER, linestyle="dashed", label="paper: driver and web server, at most")
        axes.set_yticks(range(len(ways)), [way["name"] for way in ways])
        axes.set_xscale("log")
        axes.set_xlabel("ms after the fault")
        axes.legend(frameon=False, fontsize=8)

    picture(folder / "recovery.svg", paint)


def _row(way: dict[str, Any]) -> Sequence[str]:
    return [way["name"], str(len(way["outages"])),
            *(f"{median(times(way, phase)):.3f}; {max(times(way, phase)):.3f}" for phase in PHASES)]


def shown(results: dict[str, Any]) -> list[Shown]:
    ways = results["ways"]
    observations = sum(len(way["outages"]) for way in ways)
    longest = max(max(times(way, "back")) for way in ways)
    return [
        Shown(
            "Table 4.11: phases of a recovery, local and remote",
            f"A program that saves a checkpoint of 4 KiB each ms was back {longest:.3f} ms after its fault at most, "
            f"in {observations} outages; the goal is {GOAL_MS} ms. Times are ms after the fault: median; longest. For a cell that "
            "failed they count from the last look at which it ran.",
            "The paper has the phases of a NIC driver, in cycles and without the time until the fault is found, which it "
            f"triggers by hand; the web server was back in less than {PAPER_MS} ms (figure 4.16). Here no phase enters a monitor or "
            "waits for another CPU, and a component is a program, so its rows stand beside ours. As in the paper, the local and the "
            "remote way differ little, apart from the look that finds a failed cell.",
            observations,
            longest < GOAL_MS,
            "recovery.svg",
            ("way", "outages", *PHASES),
            [_row(way) for way in ways],
        ),
        Shown(
            "Table 4.11 of the paper: cycles of a driver's recovery", "The paper's numbers.", "See above.", 0, True, "",
            ("phase", "local", "remote"), TABLE_4_11,
        ),
    ]
