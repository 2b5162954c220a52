# SPDX-License-Identifier: GPL-2.0-only
"""Quest's placement of programs (inmates/quest/placement, compiled for the host) as a Python class,
and random sets of programs."""
from __future__ import annotations

import ctypes
import math
import subprocess
from collections.abc import Sequence
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_int, c_uint, c_uint64
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import core
from qv.admission import Vcpu
from qv.placement import POLICIES, Cell, Move, Plan, Program

FOLDER = core.HERE.parent / "placement"
SOURCES = [*sorted(FOLDER.glob("*.c")), core.SCHED / "admission.c",
           core.TOP / "inmates/tests/placement_runs.c"]
NAMES = tuple(POLICIES)     # in the order of enum place_policy
NOWHERE = -1
MANY_TESTS = (1 << 32) - 1
ALL = (1 << 64) - 1         # all cells, as bits
# in us, the VCPUs that Quest has in each cell (kernel/vcpu/vcpu.c)
OWN = (Vcpu(10_000, 100_000), Vcpu(1000, 50_000), Vcpu(10_000, 100_000), Vcpu(200, 10_000, io=True))
SHORTEST, LONGEST = 10_000, 1_000_000   # periods of random programs, in us


class CEntry(Structure):
    _fields_ = [("io", c_bool), ("budget", c_uint64), ("period", c_uint64)]


class CProgram(Structure):
    _fields_ = [("vcpus", POINTER(CEntry)), ("num_vcpus", c_uint), ("near", c_int),
                ("stays", c_bool)]


class CCell(Structure):
    _fields_ = [("own", POINTER(CEntry)), ("num_own", c_uint), ("test", c_int),
                ("links", c_uint64), ("peers", c_uint64)]


class CSystem(Structure):
    _fields_ = [("cells", POINTER(CCell)), ("programs", POINTER(CProgram)), ("num_cells", c_uint),
                ("num_programs", c_uint), ("at", POINTER(c_int)), ("tests", c_uint),
                ("most_tests", c_uint), ("set", CEntry * 256)]


class CMove(Structure):
    _fields_ = [("program", c_uint), ("source", c_int), ("to", c_int)]


class CPlan(Structure):
    _fields_ = [("moves", CMove * 2), ("num_moves", c_uint), ("cell", c_int)]


class Arrivals(Structure):
    _fields_ = [(name, c_uint64) for name in ("arrived", "accepted", "by_moves", "moves",
                                              "bad_steps", "tests", "most_tests")]


def load(sources: Sequence[Path], *flags: str) -> ctypes.CDLL:
    """Compiles the code for the host, and loads it."""
    with TemporaryDirectory() as folder:
        out = f"{folder}/places.so"
        subprocess.run(["gcc", *core.FLAGS, *flags, "-o", out, *map(str, sources)], check=True)
        lib = ctypes.CDLL(out)
    system = POINTER(CSystem)
    for name, result, arguments in (
            ("place_admits", c_bool, [system, c_uint, c_uint]),
            ("place_load", c_uint64, [system, c_uint, c_uint]),
            ("place_distance", c_uint, [system, c_uint, c_uint]),
            ("place_choose", c_int, [system, c_int, c_uint, c_uint64]),
            ("place_make_room", c_bool, [system, c_int, c_uint, c_uint64, POINTER(CPlan)]),
            ("place_rebalance", c_uint, [system, POINTER(CMove), c_uint]),
            ("place_policy_name", c_char_p, [c_uint]),
            ("placement_arrive", None, [system, c_int, c_bool, POINTER(Arrivals)])):
        getattr(lib, name).restype, getattr(lib, name).argtypes = result, arguments
    return lib


@cache
def library() -> ctypes.CDLL:
    return load(SOURCES)


def _entries(vcpus: Sequence[Vcpu]) -> ctypes.Array[CEntry]:
    return (CEntry * max(len(vcpus), 1))(*(CEntry(v.io, v.budget, v.period) for v in vcpus))


def _bits(cells: set[int]) -> int:
    return sum(1 << cell for cell in cells)


def _cell(at: int | None) -> int:
    return NOWHERE if at is None else at


def _moves(moves: Sequence[CMove], count: int) -> list[Move]:
    return [Move(move.program, move.source, move.to) for move in moves[:count]]


class Places:
    """Cells with programs, as qv.placement.System has them."""

    def __init__(self, cells: Sequence[Cell], programs: Sequence[Program],
                 lib: ctypes.CDLL | None = None) -> None:
        self.lib = lib or library()
        self._at = (c_int * len(programs))(*(_cell(program.at) for program in programs))
        self._cells = (CCell * len(cells))(*(CCell(_entries(cell.own), len(cell.own), cell.exact,
                                                   _bits(cell.links), _bits(cell.peers))
                                             for cell in cells))
        self._programs = (CProgram * len(programs))(
            *(CProgram(_entries(one.vcpus), len(one.vcpus), _cell(one.near), one.stays)
              for one in programs))
        self.system = CSystem(self._cells, self._programs, len(cells), len(programs), self._at, 0,
                              MANY_TESTS)

    @property
    def at(self) -> list[int | None]:
        return [None if cell == NOWHERE else cell for cell in self._at]

    def admits(self, cell: int, program: int) -> bool:
        return bool(self.lib.place_admits(byref(self.system), cell, program))

    def load(self, cell: int, more: int | None = None) -> int:
        number = MANY_TESTS if more is None else more
        return int(self.lib.place_load(byref(self.system), cell, number))

    def distance(self, start: int, to: int) -> int:
        return int(self.lib.place_distance(byref(self.system), start, to))

    def choose(self, policy: str, program: int) -> int | None:
        cell = self.lib.place_choose(byref(self.system), NAMES.index(policy), program, ALL)
        return None if cell == NOWHERE else cell

    def make_room(self, policy: str, program: int) -> Plan | None:
        plan = CPlan()
        number = NAMES.index(policy)
        if not self.lib.place_make_room(byref(self.system), number, program, ALL, byref(plan)):
            return None
        return Plan(tuple(_moves(plan.moves, plan.num_moves)), plan.cell)

    def rebalance(self, most: int) -> list[Move]:
        moves = (CMove * most)()
        return _moves(moves, self.lib.place_rebalance(byref(self.system), moves, most))

    def arrive(self, policy: str, moves: bool, most_tests: int = MANY_TESTS) -> Arrivals:
        """All programs arrive, one after the other."""
        self.system.most_tests = most_tests
        found = Arrivals()
        self.lib.placement_arrive(byref(self.system), NAMES.index(policy), moves, byref(found))
        return found


def shares(random: Random, count: int, total: float, largest: float = 1.0) -> list[float]:
    """Returns random shares of a CPU with this sum, of which none is above `largest` (UUniFast)."""
    while True:
        found, rest = [], total
        for left in range(count - 1, 0, -1):
            after = rest * random.random() ** (1 / left)
            found.append(rest - after)
            rest = after
        found.append(rest)
        if max(found) <= largest:
            return found


GROUP = 8   # number of programs whose shares are drawn together: of many, one is often too large


def random_programs(random: Random, count: int, total: float,
                    largest: float = 1.0) -> list[Program]:
    """Returns programs with a VCPU each, whose loads have the sum `total`. Periods are log-uniform,
    rounded to a millisecond."""
    programs = []
    sizes = [min(GROUP, count - first) for first in range(0, count, GROUP)]
    found = [share for size in sizes
             for share in shares(random, size, total * size / count, largest)]
    random.shuffle(found)
    for share in found:
        period = round(math.exp(random.uniform(math.log(SHORTEST), math.log(LONGEST))), -3)
        programs.append(Program([Vcpu(max(1, int(share * period)), int(period))]))
    return programs


def all_linked(count: int, own: Sequence[Vcpu] = OWN, exact: bool = True) -> list[Cell]:
    """Returns cells between which programs can move in both directions."""
    everywhere = set(range(count))
    return [Cell(own, exact, everywhere - {number}, everywhere - {number})
            for number in range(count)]
