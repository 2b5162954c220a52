# SPDX-License-Identifier: GPL-2.0-only
"""How long each test took, in this run and in the record of earlier runs on this host.

A test's cost is its CPU time, which depends less on other load than the time on the clock.
"""

import json
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from .paths import BUILD, CACHE

NOW = BUILD / "lab/times.json"
BEFORE = CACHE / "cpu-times.json"
SHOWN = 20          # number of most expensive tests that are printed
# a test is reported if it costs more by this factor and by these seconds
FACTOR, LEAST = 1.5, 10.0
# tests of at least so many seconds, and so many of them, give the speed of the host
NOTABLE, ENOUGH = 1.0, 5
NEW_PART = 0.25            # weight of one run in the record


class Time(NamedTuple):
    """The time of a test: on the clock, and of all processors together (0: not measured)."""

    seconds: float
    cpu: float = 0.0


def read(path: Path) -> dict[str, float]:
    """Returns CPU seconds by test. Empty if the file does not exist or is truncated."""
    try:
        found: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
        return found
    except (OSError, ValueError):
        return {}


def write(path: Path, times: Mapping[str, object]) -> None:
    """Writes a file with a line per test."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(times[name])}" for name in sorted(times))
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def slowest(times: Mapping[str, Time]) -> list[str]:
    """Returns a line for each of the most expensive tests: CPU time, time on the clock, name."""
    order = sorted(times, key=lambda name: (-times[name].cpu, -times[name].seconds, name))
    return [f"{times[name].cpu:7.1f} s {times[name].seconds:7.1f} s  {name}" for name in order[:SHOWN]]


def host_factor(times: Mapping[str, float], before: Mapping[str, float]) -> float:
    """How many times slower this run is than the record: the median of all longer tests."""
    ratios = [times[name] / before[name] for name in times if before.get(name, 0.0) >= NOTABLE]
    return statistics.median(ratios) if len(ratios) >= ENOUGH else 1.0


def grown(times: Mapping[str, float], before: Mapping[str, float]) -> list[str]:
    """Returns a line for each test that costs much more CPU time than recorded.

    A slower host does not count: the times are divided by host_factor() first."""
    factor = host_factor(times, before)
    longer = [name for name in sorted(times) if name in before
              and times[name] / factor > max(before[name] * FACTOR, before[name] + LEAST)]
    return [f"{times[name]:7.1f} s  {name} ({before[name] * factor:.1f} s expected)"
            for name in longer]


def merged(times: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    """Returns the new record. It changes slowly, so that slow growth is reported too."""
    factor = host_factor(times, before)
    new = {name: before[name] + NEW_PART * (seconds / factor - before[name]) if name in before
           else seconds / factor for name, seconds in times.items()}
    return {**before, **{name: round(seconds, 1) for name, seconds in new.items()}}


def report(times: Mapping[str, Time], now: Path = NOW, before: Path = BEFORE) -> list[str]:
    """Returns the lines that `make check` prints. Keeps all times for the next run."""
    old = read(before)
    cpu = {name: time.cpu for name, time in times.items() if time.cpu}
    write(now, times)
    write(before, merged(cpu, old))
    lines = ["most expensive tests (CPU time, time on the clock):", *slowest(times)]
    longer = grown(cpu, old)
    return [*lines, "tests whose CPU time grew by more than half and 10 s:", *longer] if longer else lines
