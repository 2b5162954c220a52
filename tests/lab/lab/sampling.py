# SPDX-License-Identifier: GPL-2.0-only
"""The part of `make check-all` that `make check` runs in addition: one lot per commit.

Items that `make check` leaves out are divided into lots. The tree alone decides the lots, and the
seed, by default from the commit, decides which lot is run. Each item is in exactly one lot, so all
lots are equally likely, and consecutive seeds run everything once.

Of the tests in SHARES, every commit runs a share of its own besides its lot.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .everything import Item, trees

# Seconds of CPU time for tests (without boots), and for commands
TESTS, COMMANDS = 120.0, 130.0
# Names of tests, and how many parts they have, of which each commit runs one
SHARES = (("*::test_conformance_suite_in_cell[[]*", 20),)


@dataclass(frozen=True)
class Lot:
    """The items that a commit runs, the number of its lot, and the number of lots."""

    number: int  # from 1
    of: int
    items: tuple[Item, ...]

    def __str__(self) -> str:
        seconds = sum(item.seconds for item in self.items)
        return f"lot {self.number} of {self.of}, {len(self.items)} items, about {seconds:.0f} s"


def seed_of(commit: str) -> int:
    """Returns the seed of a commit, or 0 outside a repository."""
    return int(commit[:8] or "0", 16)


def units(items: Sequence[Item]) -> list[list[Item]]:
    """Groups each item with those that need the state it leaves in the machine."""
    found: list[list[Item]] = []
    for item in items:
        if item.follows and found:
            found[-1].append(item)
        else:
            found.append([item])
    return found


def weight(items: Sequence[Item]) -> float:
    return sum(item.seconds for item in items)


def fits(unit: Sequence[Item], budget: float) -> bool:
    return weight(unit) <= budget and not trees(unit)


def too_long(items: Sequence[Item], budget: float) -> list[Item]:
    """Returns the items that fit in no lot. Only `make check-all` runs them."""
    return [item for unit in units(items) if not fits(unit, budget) for item in unit]


def lots(items: Sequence[Item], budget: float) -> list[list[Item]]:
    """Divides the items, in their order, into lots that keep the budget.

    The order keeps tests of one machine together, so a lot needs few boots."""
    found: list[list[Item]] = []
    for unit in units(items):
        if not fits(unit, budget):
            continue
        if not found or weight(found[-1]) + weight(unit) > budget:
            found.append([])
        found[-1] += unit
    return found


def pick(items: Sequence[Item], budget: float, seed: int) -> Lot:
    """Returns the lot of a seed."""
    all_lots = lots(items, budget)
    if not all_lots:
        return Lot(0, 0, ())
    number = seed % len(all_lots)
    return Lot(number + 1, len(all_lots), tuple(all_lots[number]))


def parts_of(item: Item) -> int:
    """Returns how many parts the tests of this kind have, or 0 if they are in lots."""
    return next((parts for pattern, parts in SHARES if fnmatchcase(item.name, pattern)), 0)


def share(items: Sequence[Item], seed: int) -> list[Item]:
    """Returns the tests of SHARES that a seed runs: of N parts every N-th test, so each machine has
    its share."""
    found: dict[int, list[Item]] = {}
    for item in items:
        found.setdefault(parts_of(item), []).append(item)
    return [item for parts, some in found.items() if parts for item in some[seed % parts::parts]]
