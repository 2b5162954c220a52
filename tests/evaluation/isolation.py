# SPDX-License-Identifier: GPL-2.0-only
"""Figure 4.15: a cell sends messages to three others. Of these, `zero` has a network function,
answers pings, fails and begins again by itself."""

import json
import re
import time
from pathlib import Path
from typing import Any

from cells import CLOCK_HZ, LIMIT, Bench, Cell, bench, say
from figure import BOUND, OURS, PAPER, Shown, picture
from lab.errors import LabError
from lab.paths import LAB
from network import COUNTED, DEVICES, set_up

TITLE = "Isolation of a cell that fails"
SENDER, SEND_MS = "one", 50
# of the receivers: the CPU, and how often it looks
CELLS = {"zero": (4, 100), "two": (2, 800), "three": (1, 1000)}
FAILS, FAILS_IP, PING_MS = "zero", "10.0.2.16", 500
C_MS, T_MS = 20, 100  # of the thread that sends or receives, as in the paper
LOOKS = 20  # after which the cell that fails overwrites its part of the channel
FAULTS = ("write", "fault")  # it writes to memory that it does not have; its kernel breaks
AFTER_S = 3  # seconds that the last life is watched
GOAL_MS = 500  # until the cell that failed takes messages again
LATE_MS = 20  # a look may come so much later than its period, which ends with the budget


def channel(name: str) -> str:
    return (f"name: to-{name}, type: ring, item: 8, slots: 32, full: drop-oldest, writer: {SENDER}, "
            f"readers: [{name}]")


def line(words: str) -> list[str]:
    return [f"cast {C_MS}ms/{T_MS}ms restart=16/1s : cast {words}"]


def files() -> list[Cell]:
    to = " ".join(f"to-{name}" for name in CELLS)
    sender = Cell(SENDER, 3, channels=[channel(name) for name in CELLS], recovery=line(f"send {SEND_MS} {to}"))
    takers = [Cell(name, cpu, channels=[channel(name)], recovery=line(f"take {ms} to-{name}"))
              for name, (cpu, ms) in CELLS.items() if name != FAILS]
    cpu, ms = CELLS[FAILS]
    fails = Cell(FAILS, cpu, channels=[channel(FAILS)], standby="16/60s", devices=DEVICES, cmdline=f"net={FAILS_IP}/24",
                 recovery=line(f"take {ms} to-{FAILS} {LOOKS}"))
    return [fails, *takers, sender]


def stream(at: Bench, name: str) -> str:
    return at.run("qvctl", "cell", "console-log", name, "--stream")


def until(at: Bench, name: str, what: str, count: int) -> None:
    end = time.monotonic() + LIMIT
    while stream(at, name).count(what) < count:
        if time.monotonic() > end:
            raise LabError(f"{name} does not print {what!r}: {stream(at, name)}", "see what it prints")
        time.sleep(0.2)


def failure(at: Bench, restarts: int) -> dict[str, Any]:
    """Waits until the cell has begun again so often. Returns its last failure."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        shown = json.loads(at.run("qvctl", "--json", "cell", "show", FAILS))
        if shown["standby"]["restarts"] == restarts:
            last = shown["last_failure"]
            return {"tsc": last["tsc"], "ns": last["failed_ns"], "reason": last["reason"],
                    "restart_ns": shown["standby"]["restart_ns"]}
        time.sleep(0.2)
    raise LabError(f"{FAILS} does not begin again: {shown}", "see what it says")


def looks(at: Bench, name: str) -> list[list[int]]:
    """Returns the TSC of each look of a cell, how many messages it took, the first and the last. The
    prompt of the shell may be before a line."""
    lines = re.findall(r"(?m)cast: (\d+) (\d+) (\d+) (\d+)$", stream(at, name))
    if not lines:
        raise LabError(f"{name} has taken nothing: {stream(at, name)}", "see what it prints")
    return [[int(n) for n in found] for found in lines]


def replies(at: Bench) -> list[list[int]]:
    """Returns the number of each ping that was answered, and when it was sent and answered, in ns of
    CLOCK_BOOTTIME."""
    return [[int(n) for n in one.split()] for one in at.run("cat", "/run/replies").splitlines()]


def run(seed: int, share: float = 1.0) -> dict[str, Any]:
    with bench(cpus=5, **COUNTED) as at:
        at.machine.put(LAB / "inside/pings", "/run/pings")
        set_up(at)
        at.run("sh", "-c", f"systemd-run -q --unit pings sh -c 'exec /run/pings {FAILS_IP} {PING_MS} >/run/replies'")
        with at.cells(*files()):
            failures = []
            for number, crash in enumerate(FAULTS, 1):
                until(at, FAILS, "overwritten", number)
                at.machine.run(["quesh", FAILS, "-t", "20", "-c", f"crash {crash}"], LIMIT)
                failures.append(failure(at, number))
            at.run("sleep", str(AFTER_S))
            found = {name: looks(at, name) for name in CELLS}
            others = {name: json.loads(at.run("qvctl", "--json", "cell", "show", name))["failures"] for name in (SENDER, "two", "three")}
            answered = replies(at)
    say(f"failures: {failures}, of others: {others}, pings: {answered}")
    return {"failures": failures, "looks": found, "others": others, "pings": answered}


def gaps_ms(found: list[list[int]]) -> list[float]:
    """Returns the times between two looks of a cell."""
    return [(b[0] - a[0]) * 1000 / CLOCK_HZ for a, b in zip(found, found[1:], strict=False)]


def missed(found: list[list[int]]) -> int:
    """Returns how many messages a cell never took, up to its last one. The next life of a cell begins
    with the oldest message that is still in the channel."""
    known, last = 0, 0
    for _, heard, first, end in found:
        known += heard - max(0, last + 1 - first) if heard else 0
        last = max(last, end)
    return last - known


def back_ms(results: dict[str, Any]) -> list[float]:
    """Returns how long after each failure the cell took messages again."""
    taken = [tsc for tsc, heard, _, _ in results["looks"][FAILS] if heard]
    failed = [one["tsc"] for one in results["failures"]]
    return [(next(tsc for tsc in taken if tsc > at) - at) * 1000 / CLOCK_HZ for at in failed]


def answered_ms(results: dict[str, Any]) -> list[float]:
    """Returns how long after each failure a ping sent after it was answered."""
    failed = [one["ns"] for one in results["failures"]]
    return [(next(got for _, sent, got in results["pings"] if sent > at) - at) / 1e6 for at in failed]


def unanswered(results: dict[str, Any]) -> int:
    """Returns how many pings had no answer, from the first that had one to the last."""
    numbers: list[int] = [number for number, _, _ in results["pings"]]
    return numbers[-1] - numbers[0] + 1 - len(numbers)


def kept(results: dict[str, Any]) -> bool:
    """Whether no other cell failed, missed a message, or looked late, and the cell that failed took
    messages and answered pings again in time."""
    steady = [name for name in CELLS if name != FAILS]
    found = results["looks"]
    return (not any(results["others"].values())
            and not any(missed(found[name]) for name in steady)
            and all(max(gaps_ms(found[name])) <= CELLS[name][1] + LATE_MS for name in steady)
            and max(back_ms(results)) <= GOAL_MS and max(answered_ms(results)) <= GOAL_MS + PING_MS)


def draw(results: dict[str, Any], folder: Path) -> None:
    start = min(found[0][0] for found in results["looks"].values())

    def paint(axes: Any) -> None:
        for (name, found), colour in zip(results["looks"].items(), (OURS, BOUND, "#2f9e6e"), strict=True):
            x, y, total = [], [], 0
            for tsc, _, _, last in found:
                total = max(total, last)
                x.append((tsc - start) / CLOCK_HZ)
                y.append(total)
            axes.plot(x, y, ".-", color=colour, drawstyle="steps-post", label=f"cell {name}, looks every {CELLS[name][1]} ms")
        # CLOCK_BOOTTIME and the TSC count the same nanoseconds from different beginnings
        first = results["failures"][0]
        begin = start / CLOCK_HZ - (first["tsc"] / CLOCK_HZ - first["ns"] / 1e9)
        got = [got / 1e9 - begin for _, _, got in results["pings"]]
        axes.plot(got, range(1, len(got) + 1), "x", color="black",
                  label=f"pings that cell {FAILS} has answered, every {PING_MS} ms")
        for number, one in enumerate(results["failures"]):
            axes.axvline((one["tsc"] - start) / CLOCK_HZ, color=PAPER, linestyle="dashed",
                         label=None if number else f"cell {FAILS} fails, and begins again")
        axes.set_xlabel("s")
        axes.set_ylabel("messages received, pings answered")
        axes.legend(frameon=False, fontsize=8)

    picture(folder / "isolation.svg", paint)


def shown(results: dict[str, Any]) -> list[Shown]:
    back, failures = back_ms(results), results["failures"]
    rows = [[name, str(CELLS[name][1]), str(len(found)), str(max(one[3] for one in found)),
             str(missed(found)), f"{max(gaps_ms(found)):.3f}"] for name, found in results["looks"].items()]
    rows.append([f"pings of {FAILS}", str(PING_MS), "-", str(results["pings"][-1][0]), str(unanswered(results)), "-"])
    reasons = " and ".join(
        f"{one['reason']} ({one['restart_ns'] / 1e6:.3f} ms until its image began again, {ms:.3f} ms until it took messages "
        f"again, {ping:.3f} ms until it had answered the next ping)"
        for one, ms, ping in zip(failures, back, answered_ms(results), strict=True))
    lost = sum(missed(found) for name, found in results["looks"].items() if name != FAILS)
    return [Shown(
        "Figure 4.15: sandbox isolation",
        f"Cell {SENDER} sends a message to each of three cells every {SEND_MS} ms. Cell {FAILS} overwrites its part of its channel and "
        f"fails, {len(failures)} times: {reasons}. Of the pings, {unanswered(results) or 'none'} had no answer. The other cells missed "
        f"{lost or 'no'} messages, and looked when they meant to.",
        "It agrees: in the paper, too, only the cell with the fault is interrupted, and it recovers. The paper breaks its NIC driver "
        "by hand, which is restarted; here the driver begins again with its cell.",
        sum(len(found) for found in results["looks"].values()), kept(results), "isolation.svg",
        ["cell", "looks every, ms", "looks", "last message", "missed", "longest time between looks, ms"], rows)]
