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

VERSION, LENGTH = 1, 0xC00  # QV_RECOVERY_VERSION, QV_RECOVERY_LEN
COMPONENTS, DETECTORS, OUTAGES = 16, 10, 16  # QV_RECOVERY_*
NAME, PROGRAM = 16, 32  # QV_RECOVERY_*
HEAD = struct.Struct("<6IQ")
COMPONENT = struct.Struct(f"<{NAME}s{PROGRAM}s4IQ")
DETECTOR = struct.Struct(f"<{NAME}s4Q2I")
OUTAGE = struct.Struct("<I2H6Q")
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


@dataclass
class Block:
    """`total`: outages of this life, of which the last ones are in `outages`, the oldest first."""

    version: int
    total: int = 0
    components: list[Component] = field(default_factory=list)
    detectors: list[Detector] = field(default_factory=list)
    outages: list[Outage] = field(default_factory=list)


def _word(names: tuple[str, ...] | list[str], number: int) -> str:
    return names[number] if number < len(names) else f"({number})"


def _name(raw: bytes, number: int) -> str:
    return text(raw.partition(b"\0")[0]) or f"({number})"


def parse(raw: bytes) -> Block:
    """Reads a copy of the block. Only a block of VERSION has lists."""
    version, _seq, components, detectors, total, _, boot = HEAD.unpack_from(raw)
    found = Block(version)
    if version != VERSION:
        return found
    at = HEAD.size
    for number in range(min(components, COMPONENTS)):
        name, program, state, *numbers = COMPONENT.unpack_from(raw, at + number * COMPONENT.size)
        found.components.append(
            Component(_name(name, number), _name(program, number), _word(STATES, state), *numbers)
        )
    at += COMPONENTS * COMPONENT.size
    for number in range(min(detectors, DETECTORS)):
        name, *numbers = DETECTOR.unpack_from(raw, at + number * DETECTOR.size)
        found.detectors.append(Detector(_name(name, number), *numbers[:5]))
    at += DETECTORS * DETECTOR.size
    found.total = total
    for number in range(max(total - OUTAGES, 0), total):
        found.outages.append(_outage(found, number, boot, raw, at))
    return found


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

    def skip(self, block: Block) -> None:
        """Those until now are not yielded."""
        self._next = block.total

    def news(self, block: Block) -> Iterator[Outage | int]:
        """Yields each outage once, when it is over, when its component has failed again, or when it
        can no longer be; and the number of those that were replaced before this look."""
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
