# SPDX-License-Identifier: GPL-2.0-only
"""How long each test took, in this run and in the record of earlier runs on this host."""

import json
import statistics
from collections.abc import Mapping
from pathlib import Path

from .paths import BUILD, CACHE

NOW = BUILD / "lab/times.json"
BEFORE = CACHE / "times.json"
SHOWN = 20          # number of slowest tests that are printed
# a test is reported if it takes longer by this factor and by these seconds
FACTOR, LEAST = 1.5, 10.0
# tests of at least so many seconds, and so many of them, give the speed of the host
NOTABLE, ENOUGH = 1.0, 5
NEW_PART = 0.25            # weight of one run in the record


def read(path: Path) -> dict[str, float]:
    """Returns seconds by test. Empty if the file does not exist or is truncated."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def write(path: Path, times: Mapping[str, float]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rounded = {name: round(times[name], 1) for name in sorted(times)}
    path.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")


def slowest(times: Mapping[str, float]) -> list[str]:
    """Returns a line for each of the slowest tests."""
    order = sorted(times, key=lambda name: (-times[name], name))
    return [f"{times[name]:7.1f} s  {name}" for name in order[:SHOWN]]


def host_factor(times: Mapping[str, float], before: Mapping[str, float]) -> float:
    """How many times slower this run is than the record: the median of all longer tests."""
    ratios = [times[name] / before[name] for name in times if before.get(name, 0.0) >= NOTABLE]
    return statistics.median(ratios) if len(ratios) >= ENOUGH else 1.0


def grown(times: Mapping[str, float], before: Mapping[str, float]) -> list[str]:
    """Returns a line for each test that takes much longer than recorded.

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
    return {**before, **new}


def report(times: Mapping[str, float], now: Path = NOW, before: Path = BEFORE) -> list[str]:
    """Returns the lines that `make check` prints. Keeps all times for the next run."""
    old = read(before)
    write(now, times)
    write(before, merged(times, old))
    lines = ["slowest tests:", *slowest(times)]
    longer = grown(times, old)
    return [*lines, "tests that grew by more than half and 10 s:", *longer] if longer else lines
