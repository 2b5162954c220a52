# SPDX-License-Identifier: GPL-2.0-only
"""qvctl top: the work of Linux, of each cell and of each channel between two moments."""

from __future__ import annotations

import sys

from .. import abi, output, words
from ..record import dataclass
from .latency import worst
from .show import cells_data, state_text
from .stats import EXITS, Sample, difference, reason_name, stats_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..device import Device
    from ..system import System
    from .command import Arguments

CLEAR = "\033[H\033[2J"
HEADS = (
    "NAME",
    "STATE",
    "CPUS",
    "MEMORY",
    "BUSY",
    "BEATS/S",
    "EXITS/S",
    "MOST",
    "MONITOR",
    "FAILURES",
    "WORST",
)
CHANNEL_HEADS = ("CHANNEL", "TYPE", "ENDS", "ITEMS/S", "WAITING", "ERROR")


@dataclass(frozen=True)
class Moment:
    """The numbers of one owner of CPUs: of a cell, or of Linux (`cell` is None)."""

    cell: dict[str, Any] | None
    sample: Sample


def look(device: Device, vendor: int, system: System) -> dict[str, Moment]:
    """Reads all owners of CPUs. The front end comes first."""
    cells: dict[str, dict[str, Any] | None] = {abi.FRONT_END: None}
    cells |= {cell["name"]: cell for cell in cells_data(device, vendor)}
    return {
        name: Moment(cells[name], Sample(system.now(), cpus))
        for name, cpus in stats_of(device, cells)
    }


def _grown(now: int, before: int) -> int:
    """Returns the growth of a counter that begins at zero with each life of a cell."""
    return now - before if now >= before else now


def _busy(now: dict[str, Any], before: dict[str, Any] | None, cycles: float) -> float | None:
    """Returns the share of time in which the CPUs that the inmate counts had work."""
    idle = now["idle"]
    if not idle or not before or not before["idle"] or now["state"] != "running":
        return None
    passed: int = _grown(idle["cycles"], before["idle"]["cycles"])
    return min(max(1.0 - passed / (cycles * int(idle["cpus"])), 0.0), 1.0)


def _cycles(sample: Sample) -> int:
    return sum(cpu.cycles_in_monitor for cpu in sample.cpus)


def rates(name: str, now: Moment, before: Moment, khz: int) -> dict[str, Any]:
    """Returns the work of `name` between two moments, as in --json."""
    seconds = max(now.sample.at - before.sample.at, 1e-9)
    cycles = seconds * khz * 1000
    exits = difference(now.sample, before.sample)
    most = max(range(len(exits)), key=lambda reason: exits[reason])
    beats = None
    if now.cell and now.cell["heartbeat"] and before.cell:
        beats = _grown(now.cell["heartbeat"], before.cell["heartbeat"]) / seconds
    return {
        "name": name,
        "state": state_text(now.cell) if now.cell else "front end",
        "cpus": sorted(now.cell["cpus"])
        if now.cell
        else sorted(cpu.cpu for cpu in now.sample.cpus),
        "memory": now.cell["memory"] if now.cell else None,
        "busy": _busy(now.cell, before.cell, cycles) if now.cell else None,
        "beats_per_second": beats,
        "exits_per_second": sum(exits) / seconds,
        "most": reason_name(abi.Exit(most)) if exits[most] else None,
        "exits": {
            reason_name(reason): exits[reason] / seconds for reason in EXITS if exits[reason]
        },
        "monitor": (
            _grown(_cycles(now.sample), _cycles(before.sample))
            / (cycles * max(len(now.sample.cpus), 1))
        ),
        "failures": now.cell["failures"] if now.cell else None,
    }


def channel_rates(
    now: dict[str, dict[str, Any]], before: dict[str, dict[str, Any]], seconds: float
) -> list[dict[str, Any]]:
    """Returns the work of the channels, as in --json. Linux can count items only where it has an
    end, and a memory has none."""
    found = []
    for name, channel in now.items():
        counts, rate = channel["counts"], None
        earlier = before[name]["counts"] if name in before else None
        if counts and earlier and channel["type"] != "memory":
            rate = _grown(counts["items"], earlier["items"]) / seconds
        found.append(
            {
                "name": name,
                "type": channel["type"],
                "ends": channel["ends"],
                "items_per_second": rate,
                "waiting": counts["occupancy"] if counts else None,
                "error": counts["error"] if counts else None,
            }
        )
    return found


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share * 100:.1f} %"


def _row(data: dict[str, Any]) -> list[str]:
    beats, memory, worst = data["beats_per_second"], data["memory"], data["worst_latency"]
    return [
        data["name"],
        data["state"],
        words.cpu_list(data["cpus"]),
        "" if memory is None else words.size(memory),
        _percent(data["busy"]),
        "" if beats is None else f"{beats:.1f}",
        f"{data['exits_per_second']:.0f}",
        data["most"] or "",
        f"{data['monitor'] * 100:.3f} %",
        "" if data["failures"] is None else str(data["failures"]),
        f"{output.duration(worst['max_ns'])} {worst['histogram']}" if worst else "",
    ]


def _exits_table(found: list[dict[str, Any]]) -> None:
    reasons = [
        name for name in map(reason_name, EXITS) if any(name in row["exits"] for row in found)
    ]
    if reasons:
        output.line("")
        output.table(
            ["EXITS/S", *reasons],
            [
                [row["name"], *(f"{row['exits'].get(reason, 0):.0f}" for reason in reasons)]
                for row in found
            ],
            frozenset(range(1, len(reasons) + 1)),
        )


def _channels_table(found: list[dict[str, Any]]) -> None:
    if found:
        output.line("")
        output.table(
            CHANNEL_HEADS,
            [
                [
                    one["name"],
                    one["type"],
                    " ".join(f"{end['name']}:{end['state']}" for end in one["ends"]),
                    "" if one["items_per_second"] is None else f"{one['items_per_second']:.1f}",
                    "" if one["waiting"] is None else str(one["waiting"]),
                    one["error"] or "",
                ]
                for one in found
            ],
            frozenset({3, 4}),
        )


def _print(found: list[dict[str, Any]], of_channels: list[dict[str, Any]]) -> None:
    lent = [row for row in found if row["memory"] is not None]
    output.line(
        f"Linux lends {words.number(sum(len(row['cpus']) for row in lent), 'CPU')} and "
        f"{words.size(sum(row['memory'] for row in lent))} of memory to "
        f"{words.number(len(lent), 'cell')}"
    )
    output.table(HEADS, [_row(row) for row in found], frozenset(range(3, 10)) - {7})
    _exits_table(found)
    _channels_table(of_channels)


def top(args: Arguments, system: System) -> int:
    """Prints a picture after each interval. On a terminal, it replaces the one before."""
    from .channels import of_driver  # the report needs no channels

    device = system.device()
    status = device.status()
    clear = not args.json and sys.stdout.isatty()
    before = look(device, status.vendor, system)
    channels, since = of_driver(device), system.now()
    done = 0
    while args.count == 0 or done < args.count:
        system.sleep(args.interval)
        now = look(device, status.vendor, system)
        found = [
            rates(name, moment, before.get(name, moment), status.tsc_khz)
            | {"worst_latency": worst(system, name, status.tsc_khz) if moment.cell else None}
            for name, moment in now.items()
        ]
        earlier, then = channels, since
        channels, since = of_driver(device), system.now()
        of_channels = channel_rates(channels, earlier, max(since - then, 1e-9))
        if args.json:
            output.as_json({"rows": found, "channels": of_channels})
        else:
            if clear:
                output.write(CLEAR)
            elif done:
                output.line("")
            _print(found, of_channels)
        before = now
        done += 1
    return 0
