# SPDX-License-Identifier: GPL-2.0-only
"""cell stats: exits by reason, per CPU and in total."""

from __future__ import annotations

from .. import abi, output
from ..errors import Refused, WrongUsage
from ..record import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from .command import Arguments
    from ..device import Device
    from ..system import System


EXITS = tuple(reason for reason in abi.Exit if reason < abi.Exit.COUNT)


def reason_name(reason: abi.Exit) -> str:
    return reason.name.lower().replace("_", "-")


@dataclass(frozen=True)
class Sample:
    """The counters at one moment, in seconds of the monotonic clock."""

    at: float
    cpus: list[abi.CpuStats]

    def exits(self) -> dict[int, list[int]]:
        """Returns the exits by reason for each CPU."""
        return {cpu.cpu: list(cpu.exits)[: abi.Exit.COUNT] for cpu in self.cpus}


def stats_of(device: Device, names: Iterable[str]) -> Iterator[tuple[str, list[abi.CpuStats]]]:
    """Yields the counters of these owners of CPUs, without cells that are destroyed meanwhile."""
    for name in names:
        try:
            yield name, device.stats(name)
        except Refused as refusal:
            if refusal.code != abi.Reason.E_NO_CELL:
                raise


def take(device: Device, name: str, system: System) -> Sample:
    return Sample(system.now(), device.stats(name))


def sample_data(name: str, sample: Sample, before: Sample | None) -> dict[str, Any]:
    """Returns the counters as in --json, with rates if there is an earlier sample."""
    exits = sample.exits()
    data: dict[str, Any] = {
        "name": name,
        "cpus": [
            {
                "cpu": cpu.cpu,
                "apic_id": cpu.apic_id,
                "exits": _by_reason(exits[cpu.cpu]),
                "exits_total": sum(exits[cpu.cpu]),
                "held_max_ns": cpu.held_max_ns,
                "call_max_ns": cpu.call_max_ns,
                "cycles_in_monitor": cpu.cycles_in_monitor,
                "denied": cpu.denied,
                "bells": cpu.bells,
                "bell_overruns": cpu.bell_overruns,
            }
            for cpu in sample.cpus
        ],
        "exits": _by_reason(_sum(exits)),
        "exits_total": sum(_sum(exits)),
    }
    if before is not None:
        seconds = max(sample.at - before.at, 1e-9)
        data["interval_s"] = seconds
        data["per_second"] = {
            key: round(count / seconds, 3)
            for key, count in _by_reason(difference(sample, before)).items()
        }
        data["per_second_total"] = round(sum(difference(sample, before)) / seconds, 3)
    return data


def _by_reason(counts: list[int]) -> dict[str, int]:
    return {reason_name(reason): counts[reason] for reason in EXITS}


def _sum(exits: dict[int, list[int]]) -> list[int]:
    return [sum(column) for column in zip(*exits.values())] or [0] * abi.Exit.COUNT


def difference(sample: Sample, before: Sample) -> list[int]:
    """Returns the exits since `before`. For a CPU that is new (or came back), counting begins at
    zero."""
    old = before.exits()
    grown = {}
    for cpu, counts in sample.exits().items():
        earlier = old.get(cpu, [0] * abi.Exit.COUNT)
        if any(now < then for now, then in zip(counts, earlier)):
            earlier = [0] * abi.Exit.COUNT
        grown[cpu] = [now - then for now, then in zip(counts, earlier)]
    return _sum(grown)


def _print(data: dict[str, Any]) -> None:
    rates = "per_second" in data
    heads = ["EXITS"] + [f"CPU {cpu['cpu']}" for cpu in data["cpus"]] + ["TOTAL"]
    rows = [
        [reason]
        + [str(cpu["exits"][reason]) for cpu in data["cpus"]]
        + [str(data["exits"][reason])]
        for reason in data["exits"]
    ]
    rows.append(
        ["total"] + [str(cpu["exits_total"]) for cpu in data["cpus"]] + [str(data["exits_total"])]
    )
    if rates:
        heads.append("PER SECOND")
        for row in rows[:-1]:
            row.append(f"{data['per_second'][row[0]]:.1f}")
        rows[-1].append(f"{data['per_second_total']:.1f}")
    for label, key in (
        ("denied", "denied"),
        ("bells", "bells"),
        ("bells too soon", "bell_overruns"),
        ("longest stay", "held_max_ns"),
        ("longest call", "call_max_ns"),
        ("cycles", "cycles_in_monitor"),
    ):
        values = [cpu[key] for cpu in data["cpus"]]
        total = max(values, default=0) if key.endswith("_ns") else sum(values)
        show = output.duration if key.endswith("_ns") else str
        rows.append([label] + [show(value) for value in (*values, total)] + [""] * rates)
    output.table(heads, rows, frozenset(range(1, len(heads))))


def stats(args: Arguments, system: System) -> int:
    """Prints once without --interval, otherwise -n times (0: until interrupted)."""
    if args.interval is None:
        if args.count is not None:
            raise WrongUsage("-n is of use only together with --interval")
        rounds = 1
    else:
        rounds = 1 if args.count is None else args.count
    device = system.device()
    before = take(device, args.name, system) if args.interval is not None else None
    done = 0
    while rounds == 0 or done < rounds:
        if args.interval is not None:
            system.sleep(args.interval)
        sample = take(device, args.name, system)
        data = sample_data(args.name, sample, before)
        if args.json:
            output.as_json(data)
        else:
            if done:
                output.line("")
            _print(data)
        before = sample if args.interval is not None else None
        done += 1
    return 0
