# SPDX-License-Identifier: GPL-2.0-only
"""The budgets of `make check` and of a part of `make check-all`, in seconds of CPU time.

The weights decide, so the result is the same on every host. A test of the lab fails if the weights
exceed a budget. `make check` also compares the weights with the measured times.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from . import check
from .everything import Item
from .sampling import COMMANDS, TESTS, share, weight
from .times import Time
from .weights import BOOT

CHECK = 57 * 60.0  # with the sample: 28.5 minutes of two cores
PART = 50 * 60.0   # 25 minutes of two cores
SHOWN = 10         # number of the most expensive items that a message names
# A file is named if its tests cost more than their weights by this factor and by these seconds
FACTOR, LEAST = 1.5, 30.0


def cost(items: Sequence[Item]) -> float:
    """Returns the weight of items, with the boots of their machines."""
    boots = {item.boot for item in items if item.boot}
    return sum(item.seconds for item in items) + BOOT * len(boots)


def planned(items: Sequence[Item]) -> float:
    """Returns the weight of `make check`: the items that are not rare, each fuzzer for a short time,
    and the sample. The seeds' shares have about the same weight."""
    fuzzers = sum(item.name.startswith("fuzz ") for item in items)
    always = cost([item for item in items if not item.rare])
    return always + fuzzers * check.FUZZ_SECONDS + TESTS + COMMANDS + weight(share(items, 0))


def over(items: Sequence[Item]) -> str:
    """Returns why `make check` is over its budget, and what to do. Empty if it is not."""
    total = planned(items)
    if total <= CHECK:
        return ""
    most = sorted((item for item in items if not item.rare), key=lambda item: -item.seconds)
    return (f"make check needs {total / 60:.1f} minutes of CPU time, and its budget is {CHECK / 60:.0f}: "
            "mark tests `thorough`, or name them in lab/thorough.py. The most expensive: "
            + ", ".join(f"{item.name} ({item.seconds:.0f} s)" for item in most[:SHOWN]))


def by_file(items: Sequence[Item], times: Mapping[str, Time]) -> dict[str, tuple[float, float]]:
    """Returns for each file and kind of machine the cost of its tests, and their weight with the
    boots. Tests without measured CPU time are left out."""
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item.name in times and times[item.name].cpu:
            groups[f"{item.name.partition('::')[0]} {item.machine}".strip()].append(item)
    return {name: (sum(times[item.name].cpu for item in group), cost(group))
            for name, group in groups.items()}


def outgrown(items: Sequence[Item], times: Mapping[str, Time]) -> list[str]:
    """Returns a line for each file that costs much more than its weight. A slower host does not
    count: the sum of all files is taken for its speed."""
    files = by_file(items, times)
    weight = sum(expected for _, expected in files.values())
    host = sum(measured for measured, _ in files.values()) / weight if weight else 1.0
    return [f"{measured:7.1f} s  {name} ({expected * host:.1f} s by lab/weights.py)"
            for name, (measured, expected) in sorted(files.items())
            if measured > max(expected * host * FACTOR, expected * host + LEAST)]


def report(items: Sequence[Item], times: Mapping[str, Time], used: float) -> list[str]:
    """Returns the lines that `make check` prints about the CPU time that it used."""
    lines = [f"CPU time: {used / 60:.1f} minutes; by the weights {planned(items) / 60:.1f}; "
             f"the budget is {CHECK / 60:.0f}"]
    grown = outgrown(items, times)
    return [*lines, "files that cost more than their weights:", *grown] if grown else lines
