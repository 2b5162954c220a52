# SPDX-License-Identifier: GPL-2.0-only
"""How long a program takes to move, by its size and by the method, and the exits of the monitor
meanwhile."""

import re
from pathlib import Path
from typing import Any

from cells import Bench, Cell, bench, links, say
from figure import BOUND, OURS, PAPER, Shown, picture

TITLE = "Migration by size"
MS = 1_000_000
KIB = (64, 256, 1024, 4096, 8192, 16384, 65536)
ARENA = 14 << 20  # a channel has at most 16 MiB
ARENA_KIB = 8192  # the largest program whose pages are all in the arena
EXITS_KIB = (64, 4096)
# C/T of the migration thread in ms, as in the paper
METHODS = {"messages": (10, 200), "copy": (10, 50)}


def pair(method: str) -> list[Cell]:
    arena = ARENA if method == "copy" else 0
    link = "there,first" if arena else "there"
    vcpus = {"migration": METHODS[method]}
    return [Cell(name, cpu, vcpus, "background=off", "160M", links(arena), [link])
            for name, cpu in (("one", 2), ("two", 3))]


def carry(at: Bench, method: str, kib: int, stay: bool = False) -> dict[str, Any]:
    """Moves a program with so many KiB from a fresh cell to another."""
    with at.cells(*pair(method)):
        begun = {cell: at.exits(cell) for cell in ("one", "two")}
        used = {cell: at.used_ms(cell, "migration") for cell in begun}
        first = at.shell("one", f"carry {kib}{' stay' if stay else ''}")
        said = first if stay or "wrong" in first else at.wait("two", "wrong")
        ended = {cell: at.exits(cell) for cell in begun}
        used = {cell: at.used_ms(cell, "migration") - before for cell, before in used.items()}
    found = re.search(r"carry: (.*), (\d+) cycles,\s+a copy of 1 MiB takes (\d+) ns, (\d+) words wrong", said)
    if not found:
        raise RuntimeError(f"carry {kib} by {method}: {first}{said}")
    say(f"carry {kib} KiB by {method}: {found[1]} in {int(found[2]) / MS:.3f} ms, CPU {used}")
    return {"method": method, "kib": kib, "result": found[1], "took_ns": int(found[2]), "copy_ns": int(found[3]) * kib / 1024,
            "wrong": int(found[4]), "used_ms": used,
            "exits": {cell: {name: ended[cell][name] - n for name, n in counts.items()}
                      for cell, counts in begun.items()}}


def sizes(method: str, share: float) -> list[int]:
    largest = ARENA_KIB if method == "copy" else KIB[-1] if share >= 1 else 4096
    return [kib for kib in KIB if kib <= largest]


def run(seed: int, share: float = 1.0) -> dict[str, Any]:
    """The sizes are all; a share below 1 leaves out the large ones by messages."""
    with bench() as at:
        moves = [carry(at, method, kib) for method in METHODS for kib in sizes(method, share)]
    # exits do not depend on the clock; in x2APIC mode, a cell's timer causes none
    with bench(icount=False, iommu="intel") as at:
        exits = [{"moves": carry(at, method, kib), "stays": carry(at, method, kib, stay=True)}
                 for method in METHODS for kib in EXITS_KIB]
    return {"moves": moves, "exits": exits}


def draw(results: dict[str, Any], folder: Path) -> None:
    def paint(axes: Any) -> None:
        for method, colour in zip(METHODS, (BOUND, OURS), strict=True):
            found = [one for one in results["moves"] if one["method"] == method]
            x = [one["kib"] for one in found]
            c, t = METHODS[method]
            axes.plot(x, [one["took_ns"] / MS for one in found], "o-", color=colour, label=f"by {method}, {c}/{t} ms: until it runs")
            axes.plot(x, [sum(one["used_ms"].values()) for one in found], "o:", color=colour, label=f"by {method}: CPU time of both ends")
        found = [one for one in results["moves"] if one["method"] == "messages"]
        axes.plot([one["kib"] for one in found], [one["copy_ns"] / MS for one in found], "--", color=PAPER, label="memcpy of so many bytes")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("KiB of the program")
        axes.set_ylabel("ms")
        axes.legend(frameon=False, fontsize=8)
    picture(folder / "sizes.svg", paint, (7.0, 4.0))


def ends(one: dict[str, Any], name: str) -> int:
    return sum(int(counts[name]) for counts in one["exits"].values())


def shown(results: dict[str, Any]) -> list[Shown]:
    moves, exits = results["moves"], results["exits"]
    good = all(one["result"] == "moved" and not one["wrong"] for one in moves)
    times = {method: [sum(one["used_ms"].values()) * MS / one["copy_ns"] for one in moves
                      if one["method"] == method and one["kib"] >= 1024] for method in METHODS}
    rows = [[one["method"], str(one["kib"]), f"{one['took_ns'] / MS:,.3f}", *(f"{one['used_ms'][cell]:,.3f}" for cell in ("one", "two")),
             f"{one['copy_ns'] / MS:,.3f}"] for one in moves]
    beyond, most = [], 0
    for one in exits:
        more = ends(one["moves"], "all") - ends(one["stays"], "all")
        most = max(most, more - ends(one["moves"], "bells") + ends(one["stays"], "bells"))
        beyond.append([one["moves"]["method"], str(one["moves"]["kib"]), str(ends(one["moves"], "all")), str(ends(one["stays"], "all")),
                       str(ends(one["moves"], "bells") - ends(one["stays"], "bells")), str(more)])
    return [
        Shown("Time to move, by size",
              "From 1 MiB on, a move costs both ends together "
              + " and ".join(f"{max(found):.1f} times the time of memcpy by {method}" for method, found in times.items() if found)
              + "; the rest of the time, it waits for its budget or for the other cell. " + ("All memory was right after each move."
                                                                       if good else "NOT all memory was right."),
              "The paper has one size only: there too a direct copy is far cheaper than messages (1.7 ms of CPU time against a "
              "move of 4021 ms).", len(moves), good, "sizes.svg",
              ["method", "KiB", "until it runs, ms", "CPU of source, ms", "CPU of destination, ms", "memcpy, ms"], rows),
        Shown("Exits of the monitor",
              "Exits of both cells while the program runs and moves, and while the same program stays, in a machine with "
              "x2APIC. The difference is due to the move; each bell is one exit of the cell that rings. "
              f"Besides the bells, a move caused {most} exits at most, in both cells together (goal: 0). "
              "The first bell in the life of a cell executes CPUID once, which is one exit.",
              "The paper's direct copy maps pages by the monitor of the destination; here the monitor takes no part.",
              2 * len(exits), True, "", ["method", "KiB", "exits, moves", "exits, stays", "more bells", "more exits"], beyond)]
