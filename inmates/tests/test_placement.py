# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the placement of programs: the C code compared with tools/qv/placement.py, properties of
its plans, an exhaustive search as the oracle of small cases, and runs with 2 to 64 cells."""
import os
from collections import deque
from random import Random

import core
import places
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import NAMES, Places
from qv import admission, placement
from qv.admission import Vcpu
from qv.placement import Cell, Program, System

EASY, HARD = 0.5, 0.72      # loads of programs for each cell
LARGEST = 0.5               # load of a program in the runs


def examples(number):
    """Tries this number of examples where slow tests run, and a quarter of it otherwise."""
    number = number if os.environ.get("SLOW") else number // 4
    return settings(max_examples=number, deadline=None, derandomize=True)


@st.composite
def vcpu(draw):
    period = draw(st.integers(2, 60))
    io = draw(st.sampled_from([False, False, False, True]))
    return Vcpu(draw(st.integers(1, max(1, (period - io) // draw(st.sampled_from([1, 2, 3, 6]))))),
                period, io)


def some(count):
    return st.sets(st.integers(0, count - 1))


@st.composite
def systems(draw):
    """Cells with programs, which need not have been admitted."""
    count = draw(st.integers(1, 4))
    cells = [
        Cell(draw(st.lists(vcpu(), max_size=1)), draw(st.booleans()), draw(some(count)),
             draw(some(count))) for _ in range(count)
    ]
    where = st.one_of(st.none(), st.integers(0, count - 1))
    programs = draw(
        st.lists(st.builds(Program, st.lists(vcpu(), max_size=2), where, where, st.booleans()),
                 min_size=1, max_size=7))
    return cells, programs


def test_names_of_policies():
    assert [places.library().place_policy_name(number) for number in range(4)] == \
        [*(name.encode() for name in NAMES), None]


# C and Python agree

@examples(2000)
@given(systems())
def test_c_and_python_agree(drawn):
    c, python = Places(*drawn), System(*drawn)
    for cell in range(len(python.cells)):
        assert c.load(cell) == python.load(cell)
        assert [c.distance(cell, to) for to in range(len(python.cells))] == \
            [python.distance(cell, to) for to in range(len(python.cells))]
        for program in range(len(python.programs)):
            assert c.admits(cell, program) == python.admits(cell, program)
            assert c.load(cell, program) == python.load(cell, program)
    for policy in NAMES:
        for program in range(len(python.programs)):
            assert c.choose(policy, program) == python.choose(policy, program)
            assert c.make_room(policy, program) == placement.make_room(python, policy, program)
    assert c.rebalance(6) == placement.rebalance(python, 6)
    assert c.at == python.at == [program.at for program in drawn[1]]


@pytest.mark.parametrize("cells", [8, 64])
def test_c_and_python_agree_on_many_cells(cells):
    random = Random(cells)
    programs = places.random_programs(random, 2 * cells, .6 * cells, .9)
    for program in programs:
        program.near = random.randrange(cells)
    linked = places.all_linked(cells)
    c, python = Places(linked, programs), System(linked, programs)
    for policy in NAMES:
        for program in range(0, len(programs), 7):
            assert c.choose(policy, program) == python.choose(policy, program)


# Properties. These functions test the admission of a cell without the code of placement.

def admitted(cell, vcpus):
    if len(vcpus) > admission.MAX_VCPUS:
        return False
    return admission.in_time(vcpus) if cell.exact else admission.within_bound(vcpus)


def held(cells, programs, at, cell):
    return [*cells[cell].own, *(v for program, where in zip(programs, at) if where == cell
                                for v in program.vcpus)]


def admits(cells, programs, at, cell, program):
    return admitted(cells[cell], held(cells, programs, at, cell) + list(programs[program].vcpus))


def do(cells, programs, at, moves):
    """Carries out moves, each of which must be possible and admitted."""
    for move in moves:
        program = programs[move.program]
        assert at[move.program] == move.source != move.to and move.to in cells[move.source].links
        assert not program.stays and program.near != move.source
        assert admits(cells, programs, at, move.to, move.program)
        at[move.program] = move.to


@examples(2000)
@given(systems())
def test_first_fit_finds_a_cell_if_one_admits(drawn):
    cells, programs = drawn
    at = [program.at for program in programs]
    for number, program in enumerate(programs):
        reach = range(len(cells))
        if program.at is not None:
            reach = sorted(cells[program.at].links - {program.at})
        fitting = [cell for cell in reach if admits(cells, programs, at, cell, number)]
        c = Places(cells, programs)
        assert c.choose("first", number) == (fitting[0] if fitting else None)
        for policy in NAMES[1:]:
            chosen = c.choose(policy, number)
            assert chosen in fitting if fitting else chosen is None


@examples(2000)
@given(systems())
def test_each_step_of_a_plan_is_admitted(drawn):
    cells, programs = drawn
    for policy in NAMES:
        for number in range(len(programs)):
            at = [program.at for program in programs]
            plan = Places(cells, programs).make_room(policy, number)
            if plan is None:
                continue
            assert len(plan.moves) <= placement.MOVES
            assert number not in (move.program for move in plan.moves)
            do(cells, programs, at, plan.moves)
            assert admits(cells, programs, at, plan.cell, number)


@examples(2000)
@given(systems())
def test_rebalance_lowers_the_larger_load(drawn):
    cells, programs = drawn
    at = [program.at for program in programs]
    system = System(cells, programs)
    for move in Places(cells, programs).rebalance(8):
        system.at = at
        before = max(system.load(move.source), system.load(move.to))
        do(cells, programs, at, [move])
        assert before - max(system.load(move.source), system.load(move.to)) >= placement.ONE // 100


def test_rebalance_ends_after_its_number_of_tests():
    """Another cell chooses how long a test of its VCPUs takes."""
    programs = [Program([Vcpu(1, 4)], at=0) for _ in range(2)]
    places = Places([Cell([], links={1}), Cell([])], programs)
    assert len(places.rebalance(1)) == 1
    places.system.most_tests = places.system.tests
    assert places.rebalance(1) == []


@pytest.mark.parametrize("near, chosen", [(None, 0), (0, 0), (2, 2), (3, 3)])
def test_nearest(near, chosen):
    """Cells in a row. Cell 1 is full. A program that wants cell 1 gets a neighbour."""
    cells = [
        Cell([Vcpu(1, 1)] if number == 1 else [], peers={number - 1, number + 1} & set(range(4)))
        for number in range(4)
    ]
    assert Places(cells, [Program([Vcpu(1, 2)], near)]).choose("near", 0) == chosen
    assert Places(cells, [Program([Vcpu(1, 2)], 1)]).choose("near", 0) == 0
    cells[0].own = [Vcpu(1, 1)]
    assert Places(cells, [Program([Vcpu(1, 2)], 1)]).choose("near", 0) == 2


def test_shapes_of_plans():
    """One program leaves; two leave; one follows another. In the cell that it names, it stays."""
    half, quarter, most = Vcpu(2, 4), Vcpu(1, 4), Vcpu(3, 4)
    two, three = places.all_linked(2, ()), places.all_linked(3, ())

    def moves(cells, *programs):
        plan = Places(cells, programs).make_room("first", len(programs) - 1)
        return plan and ([(move.program, move.to) for move in plan.moves], plan.cell)

    assert moves(two, Program([quarter], at=0), Program([half], at=1),
                 Program([Vcpu(4, 4)])) == ([(0, 1)], 0)
    for stays in (Program([quarter], 0, 0), Program([quarter], at=0, stays=True)):
        assert moves(two, stays, Program([half], 1, 1), Program([Vcpu(4, 4)])) is None
    assert moves(two, Program([quarter], at=0), Program([quarter], at=0), Program([half], 1, 1),
                 Program([Vcpu(4, 4)])) == ([(0, 1), (1, 1)], 0)
    # 1 leaves cell 1 for cell 2, so that 0 can leave cell 0 for cell 1
    assert moves(three, Program([half], at=0), Program([quarter], at=1), Program([half], 1, 1),
                 Program([most], 2, 2), Program([Vcpu(4, 4)])) == ([(1, 2), (0, 1)], 0)


# The oracle: all orders of safe moves

def can_make_room(cells, programs, number, most):
    """Returns the least number of safe moves after which a cell admits the program; None: no moves
    do, or more than `most` are needed."""
    start = tuple(program.at for program in programs)
    seen, queue = {start}, deque([(start, 0)])
    while queue:
        at, steps = queue.popleft()
        if any(admits(cells, programs, at, cell, number) for cell in range(len(cells))):
            return steps
        if steps == most:
            continue
        for mover, where in enumerate(at):
            for to in () if where is None else sorted(cells[where].links - {where}):
                after = (*at[:mover], to, *at[mover + 1:])
                if after not in seen and admits(cells, programs, at, to, mover):
                    seen.add(after)
                    queue.append((after, steps + 1))
    return None


def full_cells(random):
    """Returns 3 cells, programs that were admitted there, and last a program that needs room."""
    cells = places.all_linked(3, ())
    while True:
        programs = places.random_programs(random, 7, 2.6, .9)
        at = []
        for number in range(7):
            fitting = [cell for cell in range(3)
                       if admits(cells, programs[:number + 1], [*at, None], cell, number)]
            if not fitting:
                break
            at.append(random.choice(fitting))
        if 4 <= len(at) < 7:
            for program, cell in zip(programs, at):
                program.at = cell
            return cells, programs[:len(at) + 1]


@pytest.mark.parametrize("count", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_bounded_plans_miss_few(count):
    """Where 1 or 2 moves suffice, the plan is found in all but 2 % of the cases. A plan is not
    longer than it must be in all but 5 %."""
    random = Random(count)
    possible = missed = longer = found = 0
    for _ in range(count):
        cells, programs = full_cells(random)
        least = can_make_room(cells, programs, len(programs) - 1, placement.MOVES)
        plan = Places(cells, programs).make_room("first", len(programs) - 1)
        assert plan is None or least is not None and len(plan.moves) >= least > 0
        possible += least is not None
        missed += least is not None and plan is None
        found += plan is not None
        longer += plan is not None and len(plan.moves) > least
    print(f"{count} cases: {possible} possible, {missed} missed, {longer} longer than needed")
    assert possible > count // 20 and missed <= possible * .02 and longer <= found * .05


@pytest.mark.slow
def test_more_moves_would_help_little():
    """Of the cases in which any number of moves makes room, 2 moves do in most."""
    random = Random(7)
    cases = [full_cells(random) for _ in range(200)]
    least = [can_make_room(cells, programs, len(programs) - 1, 100) for cells, programs in cases]
    some_way = [steps for steps in least if steps is not None]
    assert sum(steps <= placement.MOVES for steps in some_way) >= .8 * len(some_way)


# Runs with random sets of programs

def arrivals(cells, load, policy, moves, sets, lib=None):
    """Lets sets of programs arrive, 4 for each cell. Returns the sums."""
    total = places.Arrivals()
    for seed in range(sets):
        programs = places.random_programs(Random(seed), 4 * cells, load * cells, LARGEST)
        found = Places(places.all_linked(cells), programs, lib).arrive(policy, moves, 20_000)
        for name, _ in places.Arrivals._fields_:
            setattr(total, name, getattr(total, name) + getattr(found, name))
    return total


@pytest.mark.parametrize("cells", [2, 4, 8, 16, 32, 64])
@pytest.mark.parametrize("policy", NAMES)
def test_moves_let_more_programs_in(cells, policy):
    sets = max(3, 100 // cells)
    stay, move = (arrivals(cells, HARD, policy, moves, sets) for moves in (False, True))
    assert stay.bad_steps == move.bad_steps == stay.moves == 0
    assert stay.accepted <= move.accepted < move.arrived and move.moves >= move.by_moves > 0
    easy = arrivals(cells, EASY, policy, True, sets)
    assert not easy.bad_steps and easy.accepted >= .99 * easy.arrived


# file, its text, the mutant's text
MUTANTS = {
    "a cell is not asked": ("policy.c", "&& place_admits(s, i, program)", ""),
    "links are ignored": ("cell.c", "all & s->cells[at].links", "all"),
    "the second program is forgotten": ("room.c", "&& move_away(r, w, ALL_CELLS)", ""),
    "the other one stays": ("room.c", "~(1ull << r->cell)))\n\t\t\tcontinue;",
                            "~(1ull << r->cell)))\n\t\t\tcontinue;\n\t\tundo(r, 0);"),
    "own VCPUs do not count": ("cell.c", "n = add(s, 0, c->own, c->num_own)",
                               "n = add(s, 0, c->own, 0)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_noticed(name, tmp_path):
    file, old, new = MUTANTS[name]
    text = (places.FOLDER / file).read_text()
    assert text.count(old) == 1, "the mutant does not fit the source any more"
    (tmp_path / file).write_text(text.replace(old, new))
    lib = places.load(
        [tmp_path / file, *(source for source in places.SOURCES if source.name != file)], "-w",
        f"-I{places.FOLDER}", f"-I{core.SCHED}")
    links = [Cell([], True, {1}), Cell([], True, {2}), Cell([], True, {0})]
    full = [*(Program([Vcpu(share, 4)], at=at) for at, share in enumerate((1, 4, 2))),
            Program([Vcpu(4, 4)])]
    lost = Places(links, full, lib).make_room("first", 3) != \
        placement.make_room(System(links, full), "first", 3)
    assert lost or arrivals(4, HARD, "first", True, 50, lib).bad_steps
