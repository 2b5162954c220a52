# SPDX-License-Identifier: GPL-2.0-only
"""Measures channels: instructions of each operation, round trips and items per second between two
processes of the host and other ways to pass items there, and between Linux and a cell.

The program programs/chanbench.c measures, the inmate tests/lab/echo is the cell."""

import json
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import build, enter, roots
from .errors import LabError
from .machine import Machine
from .paths import BUILD, TOP

ROUNDS, BATCH = 10_000, 100
TURNS = 5  # runs of each way between two processes: other programs of the host disturb some of them
LINE = re.compile(r"(?m)^(\S+) (\d+) (\S+) rounds=(\d+) min=(\d+) p50=(\d+) p99=(\d+)$")
PAIR = {"pipe": "pipe", "socket": "UNIX socket (SEQPACKET)", "shared-memory-futex": "shared memory, futex",
        "shared-memory-polled": "shared memory, polled",
        "shared-memory-read-only": "shared memory, polled, which its reader maps read-only",
        "ring-bell": "channel: ring, with bells",
        "ring-one-shot": "channel: ring, with one-shot bells",
        "ring-polled": "channel: ring, polled", "batches-bell": "channel: ring, with bells, in batches",
        "batches-polled": "channel: ring, polled, in batches", "mailbox-polled": "channel: mailbox, polled"}
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

# Two cells, for bells: Linux to a cell, a cell to another, a cell to Linux
BELLS = {"down": "Linux to a cell", "go": "a cell to another cell", "ask": "a cell to Linux"}
CHANNEL = "  - {{name: {}, type: four-slot, item: 64, writer: {}, readers: [{}]{}}}\n"
RING = ", bell: true"
BELL_CHANNELS = {
    "near": (("down", "linux", "near", RING), ("down-back", "near", "linux", ""), ("go", "linux", "near", ""),
             ("go-back", "near", "far", RING), ("ask", "linux", "near", ""), ("ask-back", "near", "linux", RING)),
    "far": (("go-back", "near", "far", RING), ("go-back-back", "far", "linux", "")),
}
TRACED = re.compile(r"(?m)^.*\s(\d+): irq_handler_entry: irq=\d+ name=ask-back$")
TRACING = "/sys/kernel/tracing"


def compiled(name: str = "chanbench", *options: str) -> Path:
    """Compiles programs/NAME.c with the ways to pass items, and libqv."""
    place = BUILD / f"lab/{name}"
    place.parent.mkdir(parents=True, exist_ok=True)
    programs = [TOP / f"tests/lab/programs/{source}.c" for source in (name, "chanways")]
    sources = [*programs, *(TOP / "lib/channel").glob("*.c"),
               *(TOP / "lib/linux").glob("*.c")]
    done = enter.run(roots.ensure("tool"), ["gcc", "-O2", *options, "-static", f"-I{TOP}/include", "-idirafter",
                                            f"{TOP}/include/uapi", "-o", str(place), *map(str, sources)])
    if done.returncode:
        raise LabError(f"{name}.c does not compile:\n{done.stdout}", "see what it says")
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


def medians(turns: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the median of each number of several runs, and the least and the largest p50."""
    found = turns[0]
    for way, sizes in found["ways"].items():
        for size, ops in sizes.items():
            for name, op in ops.items():
                all_turns = [turn["ways"][way][size][name] for turn in turns]
                op.update({key: round(statistics.median(t[key] for t in all_turns)) for key in op})
                op["turns"] = sorted(t["p50"] for t in all_turns)
    return found


def on_host() -> dict[str, Any]:
    """Measures on this host, where other programs may disturb. Each turn has all the ways, one after
    the other, so what disturbs for a while disturbs them all."""
    program = compiled()

    def said(*words: str) -> dict[str, Any]:
        done = enter.run(roots.ensure("tool"), [str(program), *words])
        if done.returncode:
            raise LabError(f"chanbench ended with status {done.returncode}:\n{done.stdout}", "see what it says")
        return numbers(done.stdout)
    found = medians([said("pair", str(ROUNDS // 10), str(ROUNDS), "0", "1") for _ in range(TURNS)])
    found["ways"] |= said("copy", str(ROUNDS))["ways"]
    return found


def counted(machine: Machine, run: Callable[..., str]) -> dict[str, Any]:
    """Measures each operation in a machine whose clock counts instructions."""
    machine.put(compiled(), "/run/chanbench")
    return numbers(run("/run/chanbench", "cost", "1000") + run("/run/chanbench", "copy", "1000"))


def inmate(name: str = "echo") -> Path:
    """Builds the inmate in tests/lab/NAME. Returns its image."""
    with build.lock():
        done = enter.run(roots.ensure("tool"), ["make", "-s", "--no-print-directory", "-C", str(TOP / f"tests/lab/{name}"),
                                                f"O={build.OUT}"])
    if done.returncode:
        raise LabError(f"tests/lab/{name} does not build:\n{done.stdout}", "see what it says")
    return build.OUT / f"lab-{name}/{name}.elf"


def in_cell(machine: Machine, run: Callable[..., str]) -> dict[str, Any]:
    """Measures with a cell on the last CPU. The program is on the first."""
    machine.put(inmate(), "/run/echo.elf")
    machine.put(compiled(), "/run/chanbench")
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


def _spread(values: list[int]) -> dict[str, int]:
    values = sorted(values)
    return {"rounds": len(values), "min": values[0], "p50": values[len(values) // 2],
            "p99": values[len(values) * 99 // 100]}


def bells(machine: Machine, run: Callable[..., str], rounds: int = 1000) -> dict[str, Any]:
    """Measures from the write of an item with a bell to the first instruction of its handler: that
    of a cell, or in Linux the trace of its handlers. The CPUs must have one clock. Returns the
    ticks of each of BELLS, and the exits of both cells meanwhile by reason."""
    machine.put(inmate(), "/run/echo.elf")
    machine.put(compiled(), "/run/chanbench")
    run("qvctl", "enable")
    for at, (name, channels) in enumerate(BELL_CHANNELS.items()):
        cell = CELL.split("channels:")[0].format(cpu=machine.config.cpus - 1 - at).replace("name: echo", f"name: {name}")
        text = f"{cell}channels:\n{''.join(CHANNEL.format(*words) for words in channels)}"
        run("sh", "-c", f"cat >/run/{name}.yaml <<'X'\n{text}X")
        run("qvctl", "cell", "create", f"/run/{name}.yaml", "--start")
    run("sh", "-c", f"mount -t tracefs none {TRACING} 2>/dev/null; cd {TRACING} && echo x86-tsc >trace_clock && "
        "echo 8192 >buffer_size_kb && echo 1 >events/irq/irq_handler_entry/enable")

    def exits(name: str) -> dict[str, int]:
        return {reason: int(n) for reason, n in json.loads(run("qvctl", "--json", "cell", "stats", name))["exits"].items()}
    before = {name: exits(name) for name in BELL_CHANNELS}
    said = run("/run/chanbench", "bell", str(rounds), "0", "0")
    after = {name: exits(name) for name in BELL_CHANNELS}
    run("sh", "-c", f"echo 0 >{TRACING}/events/irq/irq_handler_entry/enable")
    heard = sorted(int(t) for t in TRACED.findall(run("cat", f"{TRACING}/trace")))
    rang = [int(t) for t in re.findall(r"(?m)^rang (\d+)$", said)]
    found = {way: ops["64"]["bell"] for way, ops in numbers(said)["ways"].items()}
    found["ask"] = _spread([min(t for t in heard if t >= start) - start for start in rang])
    run("qvctl", "cell", "destroy", *BELL_CHANNELS)
    run("qvctl", "disable")
    return {"second": numbers(said)["second"], "ticks": found, "rounds": rounds,
            "exits": {name: {reason: n - before[name][reason] for reason, n in counts.items()
                             if n != before[name][reason]}
                      for name, counts in after.items()}}


def bell_rows(found: dict[str, Any]) -> list[tuple[str, ...]]:
    return [(label, *(str(found["ticks"][way][p]) for p in ("min", "p50", "p99")),
             *(f"{found['ticks'][way][p] * 1e6 / found['second']:.2f}" for p in ("p50", "p99")))
            for way, label in BELLS.items()]


def instructions(cost: dict[str, Any]) -> list[tuple[str, ...]]:
    """Rows of the instructions of a write and a read, without those of reading the clock."""
    clock = cost["ways"]["clock"]["0"]["read"]["p50"]
    return [(f"{way}, {size} bytes",
             *(f"{(sizes[size][op]['p50'] - clock) / cost['instructions']:.0f}" for op in ("write", "read")))
            for way, sizes in cost["ways"].items() if way not in ("clock", "copy") for size in sizes]


COPIES = (("write", "claim"), ("read", "peek"))  # the call that copies, and that which does not


def copies(found: dict[str, Any]) -> list[tuple[str, ...]]:
    """Rows of the ticks of a program's work on an item, with a copy and in place."""
    return [(f"{size} bytes", *(str(ops[op]["p50"]) for pair in COPIES for op in pair))
            for size, ops in found["ways"]["copy"].items()]


def crossover(found: dict[str, Any], copying: str, in_place: str) -> str:
    """From which size on the work in place takes less time than with a copy, in words."""
    first = None
    for size, ops in found["ways"]["copy"].items():
        faster = ops[in_place]["p50"] < ops[copying]["p50"]
        first = (first or size) if faster else None
    return f"{in_place} is faster than {copying} " + (f"from {first} bytes on" if first else "at no size")


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
