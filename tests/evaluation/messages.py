# SPDX-License-Identifier: GPL-2.0-only
"""Messages between two cells, for round_trips.py and one_way.py."""

import re
import statistics
from pathlib import Path
from typing import Any

from cells import Bench, Cell, say
from figure import bars, picture

SLOT = 4096
MAILBOX = f"name: talk, type: mailbox, item: {SLOT}, writer: one, readers: [two]"
MS = 1_000_000
# Quest's own VCPUs that have a period of 100 ms otherwise, so that the VCPU of the messages has a
# higher priority than they. Without background time a VCPU without budget does not run, as in the
# papers' Quest.
OWN = {"shell": (10, 1000), "best-effort": (10, 1000)}
WORDS = "background=off"
Case = tuple[int, int, int, int]  # C/T of the sender and of the receiver, in ms


def pair(case: Case) -> list[Cell]:
    return [Cell(name, cpu, OWN | {"talk": vcpu}, WORDS, channels=[MAILBOX])
            for name, cpu, vcpu in (("one", 2, case[:2]), ("two", 3, case[2:]))]


def cost_ns(said: str) -> float:
    """Returns the CPU time for a byte: twice the dearest copy of a slot that was seen, for the copy
    and the polls."""
    return 2 * max(int(n) for n in re.findall(r"takes (\d+) ns", said)) / SLOT


def measure(at: Bench, case: Case, count: int, seed: int, stream: int = 0,
            work_us: int = 0) -> dict[str, Any]:
    """Measures round trips, or with `stream` bytes the time that they take in one direction, with a
    CPU time of `work_us` at both ends for each slot."""
    ends = pair(case)
    with at.cells(*ends):
        at.shell("two", "vcpu=talk pong talk &")
        line = f"vcpu=talk ping talk {count} {seed} {case[3] * 500}" + (f" {stream} {work_us}" if stream else "")
        said = at.shell("one", line)
        end = at.wait("two", "pong:")
        cost = cost_ns(said + end)
        sizes = {"bytes": stream, "reply": 16} if stream else {}
        bounds = at.bounds(ends, cost, work_us, **sizes)
    times = [int(n) for found in re.findall(r"(?m)^[\d ]+$", said) for n in found.split()]
    if len(times) != count:
        raise RuntimeError(f"{len(times)} of {count} exchanges are done: {said}{end}")
    slots = -(-stream // SLOT)
    name = "slot_ns" if stream else "round_trip_ns"
    bound = {rule: bounds[prefix + name] * (slots or 1) for rule, prefix in (("qv", ""), ("any", "any_"), ("paper", "paper_"))}
    say(f"{line}: {max(times) / MS:.3f} ms at most, bound {bound['qv'] / MS:.3f} ms")
    return {"case": case, "work_us": work_us, "times_ns": times, "cost_ns": cost, "bound_ns": bound,
            "command": line}


def label(case: Case) -> str:
    return f"{case[0]}/{case[1]}\n{case[2]}/{case[3]}"


def paint(path: Path, found: list[dict[str, Any]], unit: int, equation: str,
          logarithmic: bool) -> None:
    """Draws the longest time of each case next to its bounds."""
    def on(axes: Any) -> None:
        bars(axes, [label(one["case"]) for one in found], [max(one["times_ns"]) / unit for one in found],
             [one["bound_ns"]["qv"] / unit for one in found], [one["bound_ns"]["paper"] / unit for one in found], equation)
        axes.set_ylabel(("ms" if unit == MS else "s") + (", logarithmic" if logarithmic else ""))
        axes.set_xlabel("C/T in ms: sender above, receiver below")
        if logarithmic:
            axes.set_yscale("log")
    picture(path, on)


def late(found: list[dict[str, Any]], rule: str) -> int:
    """Returns how many observations are longer than a bound."""
    return sum(time > one["bound_ns"][rule] for one in found for time in one["times_ns"])


def tightness(one: dict[str, Any]) -> float:
    return float(max(one["times_ns"]) / one["bound_ns"]["qv"])


def agreement(found: list[dict[str, Any]]) -> str:
    return "It should agree, but does not" if late(found, "qv") else "It agrees"


def head(unit: int) -> list[str]:
    times = ("median", "longest", "bound", "paper's equation")
    return ["sender C/T", "receiver C/T", "number", *(f"{name}, {'ms' if unit == MS else 's'}" for name in times),
            "longest/bound", "ns for a byte"]


def row(one: dict[str, Any], unit: int) -> list[str]:
    case, times = one["case"], one["times_ns"]
    values = (statistics.median(times), max(times), one["bound_ns"]["qv"], one["bound_ns"]["paper"])
    return [f"{case[0]}/{case[1]}", f"{case[2]}/{case[3]}", str(len(times)), *(f"{n / unit:,.3f}" for n in values),
            f"{tightness(one):.1%}", f"{one['cost_ns']:.2f}"]


def sentence(found: list[dict[str, Any]], kind: str) -> str:
    number, tight = sum(len(one["times_ns"]) for one in found), [tightness(one) for one in found]
    return (f"Of {number} {kind}, {late(found, 'qv') or 'none'} took longer than the bound (inmates/quest/ipc/bounds.c, rule "
            f"`response`), and {late(found, 'paper') or 'none'} longer than the paper's equation. The longest of each case took "
            f"{min(tight):.1%} to {max(tight):.1%} of the bound.")
