# SPDX-License-Identifier: GPL-2.0-only
"""Measures channels: instructions of each operation, round trips and items per second between two
processes of the host and other ways to pass items there, and between Linux and a cell.

The program programs/chanbench.c measures, the inmate tests/lab/echo is the cell."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import build, enter, roots
from .errors import LabError
from .machine import Machine
from .paths import BUILD, TOP

ROUNDS, ITEMS, BATCH = 10_000, 100_000, 100
LINE = re.compile(r"(?m)^(\S+) (\d+) (\S+) rounds=(\d+) min=(\d+) p50=(\d+) p99=(\d+)$")
PAIR = {"pipe": "pipe", "socket": "UNIX socket (SEQPACKET)", "shared-memory-futex": "shared memory, futex",
        "shared-memory-polled": "shared memory, polled", "ring-bell": "channel: ring, with bells",
        "ring-polled": "channel: ring, polled", "mailbox-polled": "channel: mailbox, polled"}
CELL = """name: echo
cpus: [{cpu}]
memory: 8M
image: /run/echo.elf
console: false
channels:
  - {{name: small, type: ring, item: 64, slots: 32, writer: linux, readers: [echo]}}
  - {{name: small-back, type: ring, item: 64, slots: 32, writer: echo, readers: [linux]}}
  - {{name: large, type: ring, item: 4096, slots: 32, writer: linux, readers: [echo]}}
  - {{name: large-back, type: ring, item: 4096, slots: 32, writer: echo, readers: [linux]}}
  - {{name: talk, type: mailbox, item: 64, writer: linux, readers: [echo]}}
"""


def _compiled() -> Path:
    place = BUILD / "lab/chanbench"
    place.parent.mkdir(parents=True, exist_ok=True)
    sources = [*(TOP / "tests/lab/programs").glob("chan*.c"), *(TOP / "lib/channel").glob("*.c"),
               *(TOP / "lib/linux").glob("*.c")]
    done = enter.run(roots.ensure("tool"), ["gcc", "-O2", "-static", f"-I{TOP}/include", "-idirafter",
                                            f"{TOP}/include/uapi", "-o", str(place), *map(str, sources)])
    if done.returncode:
        raise LabError(f"chanbench.c does not compile:\n{done.stdout}", "see what it says")
    return place


def numbers(said: str) -> dict[str, Any]:
    """Returns `second` and `instructions` (of one tick), and by way and size the operations."""
    tick = re.search(r"(?m)^tick second=(\d+) instructions=([\d.]+)$", said)
    if not tick:
        raise LabError(f"chanbench did not say its ticks:\n{said}", "see what it says")
    found: dict[str, Any] = {"second": int(tick[1]), "instructions": float(tick[2]) / 1000, "ways": {}}
    for way, size, name, *values in LINE.findall(said):
        of_size = found["ways"].setdefault(way, {}).setdefault(size, {})
        of_size[name] = dict(zip(("rounds", "min", "p50", "p99"), map(int, values)))
    return found


def on_host() -> dict[str, Any]:
    """Measures on this host, where other programs may disturb."""
    done = enter.run(roots.ensure("tool"), [str(_compiled()), "pair", str(ROUNDS), str(ITEMS), "0", "1"])
    if done.returncode:
        raise LabError(f"chanbench ended with status {done.returncode}:\n{done.stdout}", "see what it says")
    return numbers(done.stdout)


def counted(machine: Machine, run: Callable[..., str]) -> dict[str, Any]:
    """Measures each operation in a machine whose clock counts instructions."""
    machine.put(_compiled(), "/run/chanbench")
    return numbers(run("/run/chanbench", "cost", "1000"))


def inmate() -> Path:
    """Builds the inmate that sends items back. Returns its image."""
    with build.lock():
        done = enter.run(roots.ensure("tool"), ["make", "-s", "--no-print-directory", "-C", str(TOP / "tests/lab/echo"),
                                                f"O={build.OUT}"])
    if done.returncode:
        raise LabError(f"tests/lab/echo does not build:\n{done.stdout}", "see what it says")
    return build.OUT / "lab-echo/echo.elf"


def in_cell(machine: Machine, run: Callable[..., str]) -> dict[str, Any]:
    """Measures with a cell on the last CPU. The program is on the first."""
    machine.put(inmate(), "/run/echo.elf")
    machine.put(_compiled(), "/run/chanbench")
    run("sh", "-c", f"cat >/run/echo.yaml <<'X'\n{CELL.format(cpu=machine.config.cpus - 1)}X")
    run("qvctl", "enable")
    run("qvctl", "cell", "create", "/run/echo.yaml", "--start")

    def exits() -> int:
        return int(json.loads(run("qvctl", "--json", "cell", "stats", "echo"))["exits_total"])
    before = exits()
    found = numbers(run("/run/chanbench", "cell", str(ROUNDS), str(ROUNDS), "0"))
    found["exits"], found["items"] = exits() - before, (3 + 2) * ROUNDS
    run("qvctl", "cell", "destroy", "echo")
    run("qvctl", "disable")
    return found


def instructions(cost: dict[str, Any]) -> list[tuple[str, ...]]:
    """Rows of the instructions of a write and a read, without those of reading the clock."""
    clock = cost["ways"]["clock"]["0"]["read"]["p50"]
    return [(f"{way}, {size} bytes",
             *(f"{(sizes[size][op]['p50'] - clock) / cost['instructions']:.0f}" for op in ("write", "read")))
            for way, sizes in cost["ways"].items() if way != "clock" for size in sizes]


def times(found: dict[str, Any], labels: dict[str, str]) -> list[tuple[str, ...]]:
    """Rows of round trips in microseconds, and of items per second."""
    rows = []
    for way, label in labels.items():
        for size, ops in found["ways"][way].items():
            trip, batch = ops["round-trip"], ops.get("batch")
            rate = f"{BATCH * found['second'] / batch['p50']:.0f}" if batch else "-"
            rows.append((f"{label}, {size} bytes", *(f"{trip[p] * 1e6 / found['second']:.2f}" for p in ("min", "p50", "p99")),
                         rate))
    return rows
