# SPDX-License-Identifier: GPL-2.0-only
"""qvbench: the duration of management calls, the exits of an idle system, the cost of one exit."""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import abi, config, files, output, version
from .device import Device
from .errors import Refused, WrongConfiguration
from .keys import CellConfig
from .cli.stats import sample_data, take
from .system import System

HOLD_GOAL_NS = 100_000
OPERATIONS = ("enable", "create", "start", "destroy", "disable")
SEPARATE = ("enable", "disable")  # the longest holds of these are reported separately from the goal


def _runs(text: str) -> int:
    if not 1 <= int(text) <= 10_000:
        raise argparse.ArgumentTypeError(f"{text} is not a number of runs (1 to 10000)")
    return int(text)


def _seconds(text: str) -> float:
    if not 0 < float(text) <= 86400:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds (more than 0)")
    return float(text)


def _pause(text: str) -> float:
    return 0.0 if text == "0" else _seconds(text)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="qvbench", description="Measures QV; run it as root, with no cells there."
    )
    parser.add_argument("--version", action="version", version=f"qvbench {version.own()}")
    parser.add_argument(
        "--config", default="/usr/share/qv/configs/quest.yaml", help="the cell to measure with"
    )
    parser.add_argument("--json", metavar="FILE", help="also write the numbers to FILE")
    parser.add_argument("-n", type=_runs, default=5, help="runs of each operation (default 5)")
    parser.add_argument(
        "--idle", type=_seconds, default=10, metavar="S", help="idle seconds (default 10)"
    )
    parser.add_argument(
        "--settle", type=_pause, default=2, metavar="S", help="seconds before that (default 2)"
    )
    parser.add_argument(
        "--sloc", type=int, help="source lines of the monitor, to be shown with the rest"
    )
    parser.add_argument("--text", type=int, help="bytes of the monitor's code, likewise")
    return parser.parse_args(argv)


class Bench:
    """One measurement with one cell."""

    def __init__(self, cell: CellConfig, system: System, device: Device) -> None:
        self.cell = cell
        self.system = system
        self.device = device
        self.files = files.read(cell)
        self.replies: dict[str, list[abi.Reply]] = {operation: [] for operation in OPERATIONS}
        self.first_entry_ns: list[int] = []

    def one_life(self) -> None:
        """Enables, creates, starts, destroys and disables in this order. Keeps every reply."""
        name = self.cell.name
        self._keep("enable", self.device.enable())
        self._keep("create", self.device.create(self.cell.request(), self.files))
        self._keep("start", self.device.start(name))
        self._await_first_entry()
        self._keep("destroy", self.device.destroy(name))
        self._keep("disable", self.device.disable())

    def _keep(self, operation: str, reply: abi.Reply) -> None:
        self.replies[operation].append(abi.Reply.from_buffer_copy(reply))

    def _await_first_entry(self) -> None:
        deadline = self.system.now() + 5
        while self.system.now() < deadline:
            entry = self.device.info(self.cell.name).first_entry_ns
            if entry:
                self.first_entry_ns.append(entry)
                return
            self.system.sleep(0.01)

    def idle(self, settle: float, seconds: float) -> dict[str, Any]:
        """Returns the exits per second by reason while the system is idle."""
        names = (abi.FRONT_END, self.cell.name)
        self.device.enable()
        self.device.create(self.cell.request(), self.files)
        self.device.start(self.cell.name)
        self.system.sleep(settle)
        before = {name: take(self.device, name, self.system) for name in names}
        self.system.sleep(seconds)
        after = {
            name: sample_data(name, take(self.device, name, self.system), before[name])
            for name in names
        }
        return {
            key: {
                "per_second": after[name]["per_second"],
                "per_second_total": after[name]["per_second_total"],
                "seconds": after[name]["interval_s"],
            }
            for key, name in zip(("front_end", "cell"), names)
        }

    def cpuid_cycles(self, runs: int) -> list[int]:
        """Returns the cost of a CPUID that exits, in cycles, as the cell's shell measures it."""
        found: list[int] = []
        for _ in range(runs):
            done = subprocess.run(
                ["quesh", self.cell.name, "-t", "60", "-c", "bench cpuid"],
                capture_output=True,
                text=True,
                check=False,
            )
            match = re.search(r"cycles=([0-9]+)", done.stdout)
            if match:
                found.append(int(match[1]))
            else:
                print(
                    f"qvbench: no `cycles=` in the answer to `bench cpuid`: "
                    f"{(done.stderr or done.stdout).strip()}",
                    file=sys.stderr,
                )
        return found

    def clean_up(self) -> None:
        """Restores the former state of the machine. Ignores parts that do not exist."""
        steps: tuple[Callable[[], object], ...] = (
            lambda: self.device.destroy(self.cell.name),
            self.device.disable,
        )
        for step in steps:
            try:
                step()
            except Refused:
                pass


def operation_data(replies: list[abi.Reply]) -> dict[str, Any]:
    durations = [reply.duration_ns for reply in replies]
    return {
        "median_ms": round(statistics.median(durations) / 1e6, 6),
        "all_ms": [round(duration / 1e6, 6) for duration in durations],
        "held_max_us": round(max(reply.held_ns for reply in replies) / 1e3, 3),
    }


def measure(bench: Bench, args: argparse.Namespace) -> dict[str, Any]:
    for _ in range(args.n):
        bench.one_life()
    idle = bench.idle(args.settle, args.idle)
    cycles = bench.cpuid_cycles(args.n)
    entry = bench.first_entry_ns
    held = max(
        reply.held_ns
        for operation in OPERATIONS
        if operation not in SEPARATE
        for reply in bench.replies[operation]
    )
    return {
        "monitor": {"sloc": args.sloc, "text_bytes": args.text},
        "runs": args.n,
        "memory_bytes": bench.cell.memory,
        "operations": {
            operation: operation_data(bench.replies[operation]) for operation in OPERATIONS
        },
        "first_instruction": {
            "median_ms": round(statistics.median(entry) / 1e6, 6) if entry else None,
            "all_ms": [round(value / 1e6, 6) for value in entry],
        },
        "held": {
            "goal_us": HOLD_GOAL_NS / 1e3,
            "longest_us": round(held / 1e3, 3),
            "met": held <= HOLD_GOAL_NS,
        },
        "idle": idle,
        "cpuid": {
            "median_cycles": statistics.median(cycles) if cycles else None,
            "all_cycles": cycles,
        },
    }


def show(data: dict[str, Any]) -> None:
    monitor = data["monitor"]
    if monitor["sloc"] is not None or monitor["text_bytes"] is not None:
        output.line(f"monitor: {monitor['sloc']} SLOC, {monitor['text_bytes']} bytes of text\n")
    rows = [
        [
            operation,
            f"{numbers['median_ms']:.3f}",
            f"{min(numbers['all_ms']):.3f}",
            f"{max(numbers['all_ms']):.3f}",
            f"{numbers['held_max_us']:.1f}",
            "stated apart"
            if operation in SEPARATE
            else "met"
            if numbers["held_max_us"] <= HOLD_GOAL_NS / 1e3
            else "MISSED",
        ]
        for operation, numbers in data["operations"].items()
    ]
    first = data["first_instruction"]
    if first["median_ms"] is not None:
        rows.insert(
            3,
            [
                "first instruction",
                f"{first['median_ms']:.3f}",
                f"{min(first['all_ms']):.3f}",
                f"{max(first['all_ms']):.3f}",
                "",
                "",
            ],
        )
    output.table(
        (f"n={data['runs']}", "MEDIAN ms", "MIN ms", "MAX ms", "OTHER CPU HELD us", "GOAL 100 us"),
        rows,
        frozenset({1, 2, 3, 4}),
    )
    output.line("")
    reasons = data["idle"]["cell"]["per_second"]
    rows = [
        [reason, f"{data['idle']['front_end']['per_second'][reason]:.1f}", f"{reasons[reason]:.1f}"]
        for reason in reasons
    ]
    rows.append(
        [
            "total",
            f"{data['idle']['front_end']['per_second_total']:.1f}",
            f"{data['idle']['cell']['per_second_total']:.1f}",
        ]
    )
    output.table(("EXITS PER IDLE SECOND", "FRONT END", "CELL"), rows, frozenset({1, 2}))
    cycles = data["cpuid"]["median_cycles"]
    output.line(
        "\none exit's round trip (CPUID): "
        f"{cycles if cycles is not None else 'not measured'} cycles"
    )


def main(argv: Sequence[str] | None = None, system: System | None = None) -> int:
    args = parse_arguments(argv)
    system = system or System()
    bench: Bench | None = None
    try:
        found, problems = config.check_files([args.config], system.machine())
        if problems:
            raise WrongConfiguration(problems)
        device = system.device_or_load()
        if device.status().enabled:
            raise Refused(
                "QV is enabled already: its enable could not be measured",
                "destroy the cells, then qvctl disable",
            )
        bench = Bench(found[0], system, device)
        data = measure(bench, args)
        show(data)
        if args.json:
            output.save(args.json, json.dumps(data, indent=2) + "\n")
        return 0
    except WrongConfiguration as wrong:
        print(wrong.text(), file=sys.stderr)
        return 2
    except Refused as refusal:
        print(f"qvbench: {refusal.sentence}\n  remedy: {refusal.remedy}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("qvbench: interrupted", file=sys.stderr)
        return 130
    finally:
        if bench:
            bench.clean_up()
