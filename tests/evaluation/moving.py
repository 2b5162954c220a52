# SPDX-License-Identifier: GPL-2.0-only
"""Runs two or three cells, and programs that move between them, for migration.py."""

import re
from dataclasses import dataclass
from typing import Any

from cells import Bench, Cell, links, say

MS = 1_000_000
SHIFT = 2  # an instruction takes 4 ns: two busy cells for 15 s are 7,000 million instructions
SECONDS, AT = 10, 5
LONGER = 5  # seconds of the other programs before and after
PERIOD_MS = 100  # of the other VCPUs
FINE_MS = 10  # the use of the migration thread is looked at in parts of its period
# The messages have the first 10 ms of a period at both ends, then these two VCPUs 40 ms, then the
# program 20 ms; the migration thread begins with the program. So budgets at both ends of the
# messages are there at the same time, with migration and without.
PHASE_MS = 20
MAILBOX = "name: talk, type: mailbox, item: 4096, writer: one, readers: [two]"
ARENA = 4 << 20
ITEM = 1 << 17  # with MIG_STRICT a message has all of the program's description
TRACE = 65536
# Tables 4.3 and 4.9, C/T in ms: a program has 20/100 when the shell starts it. In place of an idle
# shell with 20/100, a program on the VCPU `load` uses its whole budget.
VCPUS = {
    "load": (20, 100),
    "logger": (20, 100),
    "comms": (10, 100),
    "shell": (10, 1000),
    "best-effort": (1, 1000),
}
BUSY = ("load", "logger", "comms")  # those whose programs use their whole budgets
# KiB that the program has for its memory. The papers' program moved in at most 641 messages: its
# worst case of 243681 ms has 380 ms at least for each slot of 4 KiB. With MIG_STRICT it is smaller,
# so that a move is as dear as in the papers: a copy is byte by byte, 4096 instructions for a page.
LARGE_KIB = 2400
SMALL_KIB = 64


@dataclass
class Setup:
    """An experiment."""

    name: str
    figure: str  # of the dissertation
    about: str
    migration: tuple[int, int]
    how: str  # of the program: relax or strict
    direct: bool = True
    delay_us: int = 0  # for each of 1024 entries
    shared: bool = False  # the receiver of the messages has the VCPU of the migration thread
    third: bool = False  # a second source, cell three
    moves: bool = True  # whether the program is to move
    at: int = AT  # the second of the wish
    seconds: int = SECONDS  # of the programs that move
    kib: int = SMALL_KIB

    @property
    def names(self) -> list[str]:
        return ["one", "two", *(["three"] if self.third else [])]


Pair = tuple[Setup, dict[str, Any]]  # with its results


def cells(s: Setup) -> list[Cell]:
    words = "background=off" + (f" migration-delay={s.delay_us}" if s.delay_us else "")
    vcpus = VCPUS | ({"logger": (10, 100)} if s.third else {}) | {"migration": s.migration}
    item, arena = (ITEM, ARENA) if s.direct else (4096, 0)
    first, second = links(arena, item), links(arena, item, "three", "other", "second")
    by_first, by_second = ("there,first", "other,second") if s.direct else ("there", "other")
    parts = {"one": ([MAILBOX, *first], [by_first]), "two": ([MAILBOX, *first], [by_first])}
    if s.third:
        parts |= {
            "two": ([MAILBOX, *first, *second], [by_first, by_second]),
            "three": (second, [by_second]),
        }
    return [
        Cell(name, cpu, vcpus, words, channels=parts[name][0], migrate=parts[name][1])
        for cpu, name in zip((2, 3, 1), s.names, strict=False)
    ]


def series(screen: str, program: str) -> dict[str, Any]:
    """Returns the counts of a program for each second, from the TSC `begin` on."""
    found = re.search(rf"{program}: (\d+):((?:\s+\d+)+)", screen)
    if not found:
        raise RuntimeError(f"{program} did not print its counts:\n{screen}")
    return {"begin": int(found[1]), "counts": [int(n) for n in found[2].split()]}


def programs(screen: str) -> list[dict[str, Any]]:
    """Returns the results of each program on a screen that was to move."""
    found = re.findall(
        r"(\w+): \d+, in (\w+), (\d+) moves, error (-?\d+), (\d+) KiB,\s+"
        r"wish (\d+), gap (\d+) at (\d+), moved (\d+) at (\d+)\s+\w+: (\d+):((?:\s+\d+)+)",
        screen,
    )
    names = (
        "moves",
        "error",
        "kib",
        "wish_ns",
        "gap_ns",
        "gap_at_ns",
        "moved_ns",
        "moved_at_ns",
        "begin",
    )
    return [
        {
            "program": program,
            "cell": cell,
            **dict(zip(names, map(int, numbers), strict=True)),
            "counts": [int(n) for n in counts.split()],
        }
        for program, cell, *numbers, counts in found
    ]


def periods(at: Bench, cell: str, vcpu: str) -> dict[str, Any]:
    """Returns the CPU time of a VCPU in us in each period, from the TSC `begin` on."""
    ms = FINE_MS if vcpu == "migration" else PERIOD_MS
    said = at.shell(cell, f"periods {ms} {vcpu}")
    found = re.search(r"periods: (\d+) at (\d+):((?:\s+\d+)*)", said)
    if not found or len(found[3].split()) != int(found[1]):
        raise RuntimeError(f"periods of {vcpu}: {said}")
    return {"begin": int(found[2]), "ms": ms, "us": [int(n) for n in found[3].split()]}


def start(at: Bench, s: Setup) -> None:
    """Starts the programs: those that move, and others, which use the whole budgets of the other
    VCPUs."""
    longest = (s.seconds + LONGER) * 1000 // PERIOD_MS
    for cell in s.names:
        at.shell(cell, f"trace keep {TRACE}")
        at.shell(cell, f"vcpu=logger budget {longest} {PHASE_MS} &")
    at.shell("two", f"vcpu={'migration' if s.shared else 'comms'} pong talk {PERIOD_MS * 1000} &")
    at.shell("one", f"vcpu=comms rate talk {s.seconds + LONGER} &")
    for cell, program in (("three", "sieve"), ("one", "edges"))[not s.third :]:
        at.shell(cell, f"{program} {s.seconds} {s.at} {s.how} {s.kib} &")
    for cell in s.names:
        at.shell(cell, f"vcpu=load budget {longest} {PHASE_MS} &")


def measure(at: Bench, s: Setup) -> dict[str, Any]:
    with at.cells(*cells(s)):
        vcpus = {cell: at.vcpus(cell) for cell in s.names}
        start(at, s)
        for cell in s.names:
            at.wait(cell, " lost", 2)
        at.wait("one", "rate:")
        # before other output moves them off the screen
        texts = {cell: at.screen(cell) for cell in s.names}
        found = [one for text in texts.values() for one in programs(text)]
        if len(found) != 1 + s.third:
            raise RuntimeError(
                f"{s.name}: {len(found)} programs have ended:\n" + "\n".join(texts.values())
            )
        used = {
            cell: {
                vcpu: periods(at, cell, vcpu)
                for vcpu in (*BUSY, "migration")
                if vcpu != "comms" or cell != "three"
            }
            for cell in s.names
        }
        costs = [
            int(n)
            for n in re.findall(
                r"(\d+) us at", at.shell("two", f"costs 1 1 {found[0]['kib'] // 4}")
            )
        ]
    for one in found:
        say(
            f"{s.name}: {one['program']} in {one['cell']}, {one['moves']} moves, "
            f"{one['moved_ns'] / MS:.1f} ms without a result at "
            f"{one['moved_at_ns'] / MS:.1f} ms"
        )
    return {
        "name": s.name,
        "programs": found,
        "rate": series(texts["one"], "rate"),
        "used": used,
        "vcpus": vcpus,
        "costs_us": costs,
    }
