# SPDX-License-Identifier: GPL-2.0-only
"""Where programs run: chooses cells for programs, plans the moves that make room for a program, and
those that balance the cells. Computes as inmates/quest/placement does, whose placement.h says what
a plan guarantees. inmates/tests/test_placement.py compares both."""

from __future__ import annotations

from . import admission
from .record import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .admission import Vcpu

    # the cells, a program, a cell: a number by which a policy prefers cells
    Score = Callable[["System", int, int], int]

CELLS = 64
MOVES = 2  # number of moves that may make room for a program
ONE = 1 << admission.UNITS
OVERLOAD = ONE + 1  # a load above the whole CPU
LEAST_GAIN = ONE // 100


@dataclass
class Program:
    vcpus: Sequence[Vcpu]
    near: int | None = None  # the cell with its device or channel peer
    at: int | None = None  # the cell in which it runs
    stays: bool = False


@dataclass
class Cell:
    own: Sequence[Vcpu]  # VCPUs that do not belong to programs
    exact: bool = False  # its admission test
    links: set[int] = field(default_factory=set)  # cells to which programs can move from here
    peers: set[int] = field(default_factory=set)  # cells that share a channel with this one


@dataclass(frozen=True)
class Move:
    program: int
    source: int
    to: int


@dataclass(frozen=True)
class Plan:
    moves: tuple[Move, ...]
    cell: int  # of the program that the moves make room for


class System:
    """Cells with programs. The searches move programs, and restore them."""

    def __init__(self, cells: Sequence[Cell], programs: Sequence[Program]) -> None:
        self.cells = cells
        self.programs = programs
        self.at = [program.at for program in programs]

    def vcpus(self, cell: int, more: int | None = None) -> list[Vcpu]:
        """Returns the VCPUs of a cell, with those of program `more`."""
        found = list(self.cells[cell].own)
        for number, program in enumerate(self.programs):
            if number == more or self.at[number] == cell:
                found += program.vcpus
        return found

    def admits(self, cell: int, program: int) -> bool:
        found = self.vcpus(cell, program)
        if len(found) > admission.MAX_VCPUS:
            return False
        return admission.in_time(found) if self.cells[cell].exact else admission.within_bound(found)

    def load(self, cell: int, more: int | None = None) -> int:
        """Returns the load in units of 2^-62."""
        found = self.vcpus(cell, more)
        load = OVERLOAD if len(found) > admission.MAX_VCPUS else admission.load(found)
        return min(load, OVERLOAD)

    def distance(self, start: int, to: int) -> int:
        """Returns the number of channels on the shortest way."""
        reached = {start}
        for steps in range(len(self.cells)):
            if to in reached:
                return steps
            reached = reached.union(*(self.cells[cell].peers for cell in reached))
        return CELLS

    def movable(self, program: int) -> bool:
        one, at = self.programs[program], self.at[program]
        return at is not None and not one.stays and one.near != at

    def candidates(self, program: int) -> list[int]:
        """Returns the cells in which a program can begin, or to which it can move."""
        at = self.at[program]
        return [
            cell
            for cell in range(len(self.cells))
            if at is None or (cell in self.cells[at].links and cell != at)
        ]

    def there(self, cell: int, program: int) -> Iterator[int]:
        """Yields the programs that may leave the cell for `program`."""
        for number, at in enumerate(self.at):
            if at == cell and number != program and self.movable(number):
                yield number

    def choose(self, policy: str, program: int, without: int | None = None) -> int | None:
        """Returns the cell of the least score that admits the program; of equal ones, the first."""
        score = POLICIES[policy]
        admitting = [
            cell
            for cell in self.candidates(program)
            if cell != without and self.admits(cell, program)
        ]
        if not admitting:
            return None
        return min(admitting, key=lambda cell: (score(self, program, cell), cell))


def _near(system: System, program: int, cell: int) -> int:
    near = system.programs[program].near
    return 0 if near is None else system.distance(near, cell)


POLICIES: dict[str, Score] = {
    "first": lambda system, program, cell: 0,
    "near": _near,
    "balance": lambda system, program, cell: system.load(cell, program),
}


class _Room:
    """A search of moves that make room for a program in a cell."""

    def __init__(self, system: System, policy: str, program: int) -> None:
        self.system = system
        self.policy = policy
        self.program = program
        self.moves: list[Move] = []

    def undo(self) -> None:
        for move in reversed(self.moves):
            self.system.at[move.program] = move.source
        self.moves = []

    def admits_without(self, cell: int, program: int, others: Iterable[int]) -> bool:
        was = list(self.system.at)
        for other in others:
            self.system.at[other] = None
        admits = self.system.admits(cell, program)
        self.system.at[:] = was
        return admits

    def move_away(self, program: int, without: int | None = None) -> bool:
        to = self.system.choose(self.policy, program, without)
        if to is not None:
            self.move(program, to)
        return to is not None

    def move(self, program: int, to: int) -> None:
        at = self.system.at[program]
        assert at is not None
        self.moves.append(Move(program, at, to))
        self.system.at[program] = to

    def one_leaves(self, cell: int) -> bool:
        return any(
            self.admits_without(cell, self.program, [one]) and self.move_away(one)
            for one in self.system.there(cell, self.program)
        )

    def both_leave(self, one: int, other: int) -> bool:
        if self.move_away(one) and self.move_away(other):
            return True
        self.undo()
        return False

    def two_leave(self, cell: int) -> bool:
        there = list(self.system.there(cell, self.program))
        return any(
            self.admits_without(cell, self.program, [one, other])
            and (self.both_leave(one, other) or self.both_leave(other, one))
            for number, one in enumerate(there)
            for other in there[number + 1 :]
        )

    def one_follows(self, cell: int) -> bool:
        """One program leaves the cell to a cell that another program leaves before."""
        for one in list(self.system.there(cell, self.program)):
            if not self.admits_without(cell, self.program, [one]):
                continue
            for to in self.system.candidates(one):
                for other in list(self.system.there(to, self.program)):
                    if self.admits_without(to, one, [other]) and self.move_away(other, cell):
                        self.move(one, to)
                        return True
        return False


def make_room(system: System, policy: str, program: int) -> Plan | None:
    """Chooses a cell for the program. If no cell admits it, plans at most MOVES moves of others.
    Returns None if it finds no plan."""
    chosen = system.choose(policy, program)
    if chosen is not None:
        return Plan((), chosen)
    score = POLICIES[policy]
    cells = system.candidates(program)
    cells.sort(key=lambda cell: (score(system, program, cell), cell))
    for shape in (_Room.one_leaves, _Room.two_leave, _Room.one_follows):
        for cell in cells:
            room = _Room(system, policy, program)
            if shape(room, cell):
                plan = Plan(tuple(room.moves), cell)
                room.undo()
                return plan
    return None


def _gain(system: System, program: int, to: int) -> int:
    """Returns by how much the larger load of both cells shrinks if the program moves."""
    at = system.at[program]
    assert at is not None
    before = max(system.load(at), system.load(to))
    system.at[program] = to
    after = max(system.load(at), system.load(to))
    system.at[program] = at
    return before - after


def _best(system: System) -> Move | None:
    most, best = 0, None
    for program, at in enumerate(system.at):
        if at is None or not system.movable(program):
            continue
        for to in system.candidates(program):
            gain = _gain(system, program, to)
            if gain >= LEAST_GAIN and gain > most and system.admits(to, program):
                most, best = gain, Move(program, at, to)
    return best


def rebalance(system: System, most: int) -> list[Move]:
    """Plans at most `most` moves. Each reduces the larger load of its cells by 1 % of a CPU at
    least, and by as much as any move can."""
    was = list(system.at)
    moves: list[Move] = []
    while len(moves) < most:
        best = _best(system)
        if best is None:
            break
        moves.append(best)
        system.at[best.program] = best.to
    system.at[:] = was
    return moves
