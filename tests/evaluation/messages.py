# SPDX-License-Identifier: GPL-2.0-only
"""Messages between two cells, for round_trips.py and one_way.py."""

import random
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from cells import Bench, Cell, bench, say
from figure import bars, picture

SLOT = 4096
HEAD = 16  # bytes of a slot that are not of the message: user/include/ipc.h
MAILBOX = f"name: talk, type: mailbox, item: {SLOT}, writer: one, readers: [two]"
MS = 1_000_000
# Quest's own VCPUs that have a period of 100 ms otherwise, so that the VCPU of the messages has a
# higher priority than they. Without background time a VCPU without budget does not run, as in the
# papers' Quest.
OWN = {"shell": (10, 1000), "best-effort": (10, 1000)}
WORDS = "background=off"
# An instruction takes 2^6 ns, as on a processor of 16 MHz. Both ends poll, so the host has to
# emulate as many instructions as fit into their budgets: with 1 ns each it would need days.
SHIFT = 6
LOOK_S = 10
MACHINES = 2  # at once; each keeps a CPU of the host busy
Case = tuple[int, int, int, int]  # C/T of the sender and of the receiver, in ms


def pair(case: Case) -> list[Cell]:
    return [Cell(name, cpu, OWN | {"talk": vcpu}, WORDS, channels=[MAILBOX])
            for name, cpu, vcpu in (("one", 2, case[:2]), ("two", 3, case[2:]))]


def first_line(said: str) -> dict[str, int]:
    """Returns the bounds that ping prints before its first message, and the cost of a slot at each
    end."""
    found = re.search(r"bound any=(\d+) now=(\d+) paper=(\d+)\s+ping: a slot takes (\d+) and (\d+) ns", said)
    if not found:
        raise RuntimeError(f"ping prints no bound: {said}")
    return dict(zip(("any", "now", "paper", "send", "take"), map(int, found.groups()), strict=True))


def until_end(at: Bench) -> str:
    """Waits for ping and pong. Returns the screen of ping. A command of quesh looks 200 times in a
    second, and takes the cells' time in this machine, so this looks seldom."""
    end = "until quesh {0} --dump | grep -q '^p[io]ng: end'; do sleep {1}; done; quesh {0} --dump"
    said = at.run("sh", "-c", end.format("one", LOOK_S))
    at.run("sh", "-c", end.format("two", 1))
    return said


def overrun_us(at: Bench, cell: str) -> int:
    """Returns by how much the VCPU of the messages ran beyond its budget at most."""
    [longest] = re.findall(r"(?m)^ *\d+ talk +\d+ +\d+ +\d+ +(\d+)", at.shell(cell, "vcpus counts"))
    return int(longest)


def measure(at: Bench, case: Case, count: int, seed: int, stream: int = 0) -> dict[str, Any]:
    """Measures round trips of a slot, or with `stream` bytes the time that they take in one
    direction."""
    ends = pair(case)
    with at.cells(*ends):
        at.shell("two", "vcpu=talk pong talk &")
        line = f"vcpu=talk ping talk {count} {seed} {case[3] * 1000}" + (f" {stream}" if stream else "")
        begin = time.monotonic()
        at.shell("one", f"{line} &")
        said = until_end(at)
        first = first_line(said)
        # Twice the dearest copy: the second is for the polls, as ipc_connect() counts
        cost = 2 * max(first["send"], first["take"]) / SLOT
        bounds = at.bounds(ends, cost)
        overrun = [overrun_us(at, cell.name) for cell in ends]
    done = re.search(r"number=(\d+) median=(\d+)", said)
    if not done or int(done[1]) != count:
        raise RuntimeError(f"{count} exchanges are not done: {said}")
    times = [int(n) for found in re.findall(r"(?m)^[\d ]+$", said) for n in found.split()]
    slots = -(-stream // (SLOT - HEAD))
    name = "slot_ns" if stream else "round_trip_ns"
    bound = {rule: bounds[prefix + name] * (slots or 1) for rule, prefix in (("qv", ""), ("any", "any_"), ("paper", "paper_"))}
    say(f"{line}: {times[0] / MS:.3f} ms at most, bound {bound['qv'] / MS:.3f} ms, {time.monotonic() - begin:.0f} s")
    return {"case": case, "number": count, "median_ns": int(done[2]), "longest_ns": times, "cost_ns": cost,
            "bound_ns": bound | {"said": first["now"]}, "overrun_us": overrun, "command": line}


def measure_all(cases: Sequence[Case], seed: int, count: int, stream: int = 0) -> dict[str, Any]:
    """Measures all cases, some at a time. A machine runs cases one after the other."""
    dice = random.Random(seed)
    waiting: SimpleQueue[tuple[int, Case, int]] = SimpleQueue()
    for number, case in enumerate(cases):
        waiting.put((number, case, dice.randrange(1, 1 << 30)))
    found: dict[int, dict[str, Any]] = {}

    def work() -> None:
        with bench(shift=SHIFT) as at:
            while True:
                try:
                    number, case, seed = waiting.get_nowait()
                except Empty:
                    return
                found[number] = measure(at, case, count, seed, stream)

    with ThreadPoolExecutor(MACHINES) as machines:
        for done in [machines.submit(work) for _ in range(MACHINES)]:
            done.result()
    return {"cases": [found[number] for number in range(len(cases))]}


def label(case: Case) -> str:
    return f"{case[0]}/{case[1]}\n{case[2]}/{case[3]}"


def paint(path: Path, found: list[dict[str, Any]], unit: int, equation: str,
          logarithmic: bool) -> None:
    """Draws the longest time of each case next to its bounds."""
    def on(axes: Any) -> None:
        bars(axes, [label(one["case"]) for one in found], [one["longest_ns"][0] / unit for one in found],
             [one["bound_ns"]["qv"] / unit for one in found], [one["bound_ns"]["paper"] / unit for one in found], equation)
        axes.set_ylabel(("ms" if unit == MS else "s") + (", logarithmic" if logarithmic else ""))
        axes.set_xlabel("C/T in ms: sender above, receiver below")
        if logarithmic:
            axes.set_yscale("log")
    picture(path, on)


def late(found: list[dict[str, Any]], rule: str) -> int:
    """Returns how many of the longest observations are longer than a bound."""
    return sum(ns > one["bound_ns"][rule] for one in found for ns in one["longest_ns"])


def kept(found: list[dict[str, Any]]) -> bool:
    """Returns whether both bounds hold: of the files, and that of the program before it began."""
    return not late(found, "qv") and not late(found, "said")


def tightness(one: dict[str, Any]) -> float:
    return float(one["longest_ns"][0] / one["bound_ns"]["qv"])


def agreement(found: list[dict[str, Any]]) -> str:
    return "It agrees" if kept(found) else "It should agree, but does not"


def head(unit: int) -> list[str]:
    times = ("median", "longest", "bound", "paper's equation")
    return ["sender C/T", "receiver C/T", "number", *(f"{name}, {'ms' if unit == MS else 's'}" for name in times),
            "longest/bound", "ipc_bound()", "ns for a byte", "overrun, us"]


def row(one: dict[str, Any], unit: int) -> list[str]:
    case = one["case"]
    values = (one["median_ns"], one["longest_ns"][0], one["bound_ns"]["qv"], one["bound_ns"]["paper"])
    return [f"{case[0]}/{case[1]}", f"{case[2]}/{case[3]}", str(one["number"]), *(f"{n / unit:,.3f}" for n in values),
            f"{tightness(one):.1%}", f"{one['bound_ns']['said'] / unit:,.3f}", f"{one['cost_ns']:.1f}", f"{max(one['overrun_us'])}"]


def sentence(found: list[dict[str, Any]], kind: str) -> str:
    number, tight = sum(one["number"] for one in found), [tightness(one) for one in found]
    said = late(found, "said")
    return (f"Of {number:,} {kind}, {late(found, 'qv') or 'none'} took longer than the bound (inmates/quest/ipc/bounds.c, rule "
            f"`response`), which follows from the cells' files, {said or 'none'} longer than ipc_bound() said before the first, and "
            f"{late(found, 'paper') or 'none'} longer than the paper's equation. The longest of each case took {min(tight):.1%} to "
            f"{max(tight):.1%} of the bound.")
