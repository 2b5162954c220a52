# SPDX-License-Identifier: GPL-2.0-only
"""The recovery block of a cell: the components that the inmate watches, and their last outages
(struct qv_recovery of qv/cell.h). The inmate may have written anything there."""

from __future__ import annotations

import struct

from .record import dataclass, field
from .words import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Union

    News = Union["Outage", "Against", int]

VERSION, LENGTH = 2, 0xC00  # QV_RECOVERY_VERSION, QV_RECOVERY_LEN
COMPONENTS, DETECTORS, OUTAGES, REPLICAS = 16, 13, 16, 3  # QV_RECOVERY_*
DETECTORS_OF = {1: 10, 2: DETECTORS}  # so many in a block of each version that can be read
NAME, PROGRAM = 16, 32  # QV_RECOVERY_*
HEAD = struct.Struct("<6IQ")
COMPONENT = struct.Struct(f"<{NAME}s{PROGRAM}s4IQ")
DETECTOR = struct.Struct(f"<{NAME}s4Q2I")
OUTAGE = struct.Struct("<I2H6Q")
REPLICA = struct.Struct(f"<2IQ6I{NAME}s{NAME}s")
CELLS = 3  # that run a replicated component
SEQ = 4  # place of .seq
STATES = ("down", "runs", "ended", "moved", "lost", "standby")  # enum qv_component_state
STRATEGIES = ("restart", "instead", "rollback", "cell", "given up", "takeover")  # enum qv_strategy
MOST = 1 << 32  # the number of outages counts modulo this


@dataclass(frozen=True)
class Component:
    """`longest`: an outage, in cycles of the TSC."""

    name: str
    program: str
    state: str
    pid: int
    starts: int
    faults: int
    longest: int


@dataclass(frozen=True)
class Detector:
    """Times in cycles of the TSC. `cycles`: of all its looks together."""

    name: str
    bound: int
    latest: int
    looks: int
    cycles: int
    found: int


@dataclass(frozen=True)
class Outage:
    """`at`: cycles from the inmate's start to the fault. Phases in cycles after the fault; None: it
    has not happened."""

    number: int
    component: str
    detector: str
    value: int
    strategy: str
    at: int
    detected: int | None
    stopped: int | None
    started: int | None
    back: int | None

    def is_final(self) -> bool:
        return self.back is not None or self.strategy in ("cell", "given up") or self.is_left()

    def is_left(self) -> bool:
        """The component was left to another cell."""
        return self.strategy == "takeover" and self.started is None


@dataclass(frozen=True)
class Replica:
    """A component that runs in three cells: this one (`cell` empty), and the others. `votes`: on
    which this cell and another one agreed. `page`: that differed last in this cell, from 1; 0:
    none; 17: unknown. `outvoted` and `late` are those of each cell, as this one has counted."""

    component: str
    page: int
    votes: int
    cells: tuple[str, ...]
    outvoted: tuple[int, ...]
    late: tuple[int, ...]


@dataclass(frozen=True)
class Against:
    """The replica of another cell was outvoted or late, so often until now."""

    component: str
    cell: str
    outvoted: int
    late: int


@dataclass
class Block:
    """`total`: outages of this life, of which the last ones are in `outages`, the oldest first."""

    version: int
    total: int = 0
    components: list[Component] = field(default_factory=list)
    detectors: list[Detector] = field(default_factory=list)
    outages: list[Outage] = field(default_factory=list)
    replicas: list[Replica] = field(default_factory=list)


def _word(names: tuple[str, ...] | list[str], number: int) -> str:
    return names[number] if number < len(names) else f"({number})"


def _name(raw: bytes, number: int) -> str:
    return text(raw.partition(b"\0")[0]) or f"({number})"


def parse(raw: bytes) -> Block:
    """Reads a copy of the block. Only a block of a version that is known has lists."""
    version, _seq, components, detectors, total, replicas, boot = HEAD.unpack_from(raw)
    found = Block(version)
    if version not in DETECTORS_OF:
        return found
    at = HEAD.size
    for number in range(min(components, COMPONENTS)):
        name, program, state, *numbers = COMPONENT.unpack_from(raw, at + number * COMPONENT.size)
        found.components.append(
            Component(_name(name, number), _name(program, number), _word(STATES, state), *numbers)
        )
    at += COMPONENTS * COMPONENT.size
    for number in range(min(detectors, DETECTORS_OF[version])):
        name, *numbers = DETECTOR.unpack_from(raw, at + number * DETECTOR.size)
        found.detectors.append(Detector(_name(name, number), *numbers[:5]))
    at += DETECTORS_OF[version] * DETECTOR.size
    found.total = total
    for number in range(max(total - OUTAGES, 0), total):
        found.outages.append(_outage(found, number, boot, raw, at))
    at += OUTAGES * OUTAGE.size
    for number in range(min(replicas, REPLICAS) if version > 1 else 0):
        found.replicas.append(_replica(found, raw, at + number * REPLICA.size))
    return found


def _replica(block: Block, raw: bytes, at: int) -> Replica:
    component, page, votes, *numbers = REPLICA.unpack_from(raw, at)
    return Replica(
        _word([one.name for one in block.components], component),
        page,
        votes,
        ("", *(_name(name, number) for number, name in enumerate(numbers[2 * CELLS :], 1))),
        tuple(numbers[:CELLS]),
        tuple(numbers[CELLS : 2 * CELLS]),
    )


def _outage(block: Block, number: int, boot: int, raw: bytes, at: int) -> Outage:
    component, detector, strategy, value, fault, *phases = OUTAGE.unpack_from(
        raw, at + number % OUTAGES * OUTAGE.size
    )
    return Outage(
        number,
        _word([one.name for one in block.components], component),
        _word([one.name for one in block.detectors], detector),
        value,
        _word(STRATEGIES, strategy),
        max(fault - boot, 0),
        *(phase - fault if phase >= fault and phase else None for phase in phases),
    )


class Recoveries:
    """The outages of this life that news() has not yielded yet."""

    def __init__(self) -> None:
        self._next = 0
        self._pending: set[int] = set()
        self._against: dict[tuple[int, int], int] = {}  # by places in the block

    def skip(self, block: Block) -> None:
        """Those until now are not yielded."""
        self._next = block.total
        for _ in self._replicas(block):
            pass

    def _replicas(self, block: Block) -> Iterator[Against]:
        """Yields a replica of another cell that was at fault again, each time that the number has
        doubled: a cell that does anything fills no journal."""
        for number, one in enumerate(block.replicas):
            for cell in range(1, CELLS):
                count = one.outvoted[cell] + one.late[cell]
                if count >= max(2 * self._against.get((number, cell), 0), 1):
                    self._against[number, cell] = count
                    yield Against(
                        one.component, one.cells[cell], one.outvoted[cell], one.late[cell]
                    )

    def news(self, block: Block) -> Iterator[News]:
        """Yields each outage once, when it is over, when its component has failed again, or when it
        can no longer be; and the number of those that were replaced before this look."""
        yield from self._replicas(block)
        first = block.outages[0].number if block.outages else block.total
        missed = max(first - self._next, 0) + sum(number < first for number in self._pending)
        self._pending = {number for number in self._pending if number >= first}
        if missed:
            yield missed
        last = {one.component: one.number for one in block.outages}
        for one in block.outages:
            if one.number < self._next and one.number not in self._pending:
                continue
            self._pending.add(one.number)
            if one.is_final() or last[one.component] != one.number:
                self._pending.discard(one.number)
                yield one
        self._next = block.total
