# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the bounds of messages between cells: the papers' numbers, the C code compared with
tools/qv/analyze.py, and runs of the scheduler core, which break the papers' bound only."""
import ctypes
import os
import subprocess
from ctypes import POINTER, Structure, c_bool, c_int, c_uint, c_uint64
from fractions import Fraction
from pathlib import Path

import core
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qv import admission, analyze
from qv.admission import Vcpu
from qv.analyze import End, Message

TOP = Path(__file__).resolve().parents[2]
SOURCES = [TOP / "inmates/tests/ipc_runs.c", TOP / "inmates/quest/ipc/bounds.c", *sorted(core.SCHED.glob("*.c"))]
RULES = (analyze.paper, analyze.response, analyze.admitted)     # enum bounds_rule
PAPER, RESPONSE, ADMITTED = range(3)
UNIT = 1 << analyze.COST_BITS
EXCHANGES = 20          # in each random run


class CEntry(Structure):
    _fields_ = [("io", c_bool), ("budget", c_uint64), ("period", c_uint64)]


class CEnd(Structure):
    _fields_ = [("set", POINTER(CEntry)), ("n", c_uint), ("me", c_uint), ("cost", c_uint64), ("wake", c_uint64),
                ("merged", c_bool)]


class CMessage(Structure):
    _fields_ = [(name, c_uint64) for name in ("bytes", "reply", "slot", "service")]


class CResult(Structure):
    _fields_ = [("exchanges", c_uint64), ("late_trips", c_uint64 * 3), ("late_waits", c_uint64 * 3),
                ("longest", c_uint64), ("closest", c_uint64)]


Four = c_uint64 * 4


@pytest.fixture(scope="session")
def c(tmp_path_factory):
    out = tmp_path_factory.mktemp("ipc") / "runs.so"
    subprocess.run(["gcc", *core.FLAGS, "-o", str(out), *map(str, SOURCES)], check=True)
    lib = ctypes.CDLL(str(out))
    end, message = POINTER(CEnd), POINTER(CMessage)
    for name, arguments in {
            "bounds_demand": [end, c_uint64], "bounds_spread": [end, c_uint64], "bounds_send": [end, c_uint64],
            "bounds_serve": [end, message], "bounds_wait": [c_int, end, c_uint64],
            "bounds_round_trip": [c_int, end, end, message], "bounds_one_way": [c_int, end, end, message],
            "bounds_migration": [c_int, end, c_uint64, c_uint64, end, c_uint64],
            "ipc_random": [c_uint64, c_uint, c_uint, POINTER(CResult)],
            "ipc_case": [c_uint64, Four, message, c_uint, POINTER(CResult)],
            "ipc_stream": [c_uint64, Four, message]}.items():
        getattr(lib, name).argtypes, getattr(lib, name).restype = arguments, c_uint64
    lib.ipc_random.restype = lib.ipc_case.restype = None
    return lib


def in_c(end: End) -> CEnd:
    entries = (CEntry * len(end.vcpus))(*(CEntry(v.io, v.budget, v.period) for v in end.vcpus))
    return CEnd(entries, len(end.vcpus), end.me, end.cost, end.wake, end.merged)


def c_message(m: Message) -> CMessage:
    return CMessage(m.bytes, m.reply, m.slot, m.service)


def examples(number):
    """Tries this number of examples where slow tests run, and a quarter of it otherwise."""
    number = number if os.environ.get("SLOW") else number // 4
    return settings(max_examples=number, deadline=None, derandomize=True)


def alone(budget: int, period: int, cost: int = UNIT) -> End:
    """Returns an end whose VCPU has a cell for itself."""
    return End([Vcpu(budget, period)], 0, cost)


# The papers' numbers, in units of 0.1 ms

@pytest.mark.parametrize("copy, total, strict", [
    (54, 454, True),            # 5.4 ms: 0 + 5.4 + 40
    (264, 1464, False),         # 26.4 ms: 2 * 50 + 6.4 + 40
    (8914, 44914, False),       # 891.4 ms: 89 * 50 + 1.4 + 40
])
def test_direct_copies_of_the_papers(c, copy, total, strict):
    """Equation 4.8 with C_r = 10 ms, T_r = 50 ms. MIG_STRICT accepts if E_m = 79.8 ms is as long."""
    end = alone(100, 500)
    assert analyze.wait(analyze.paper, end, copy) == total == c.bounds_wait(PAPER, in_c(end), copy)
    assert (798 >= total) == strict
    # alone, the VCPU has the highest priority, so the papers' bound holds
    assert analyze.wait(analyze.response, end, copy) == total


# Table 4.4, in units of 10 us: a program moves by messages, with 10/200 at both ends
TABLE_4_4, E_M = 24368102, 7980
WAIT = 20000 - 1000     # T - C
PARTS = TABLE_4_4 % WAIT        # CPU time, if no demand is above C


def test_message_case_of_the_papers(c):
    """Equation 4.7 gives 243681.02 ms for 640 slots of 4 KiB, 2.5 MiB: 2 * 640 waits of the slots
    and 2 to pack and unpack, T - C = 190 ms each, and a CPU time of 101.02 ms. The papers do not
    say how that is divided. 78.7 us for a slot at each end, 19.2 ns for a byte, leave 0.28 ms to
    pack and to unpack together; only the sum counts, as long as no demand is above C."""
    slots, waits = 640, TABLE_4_4 // WAIT
    assert waits == 2 * slots + 2 and PARTS == 10102
    unit, slot = 100, 787       # times in 1/10 us from here on
    end = alone(1000 * unit, 20000 * unit, slot * UNIT // 4096)
    m = Message(slots * 4096, 0, 4096)
    transfer = analyze.one_way(analyze.paper, end, end, m)
    pack = (PARTS * unit - 2 * slots * slot) // 2
    found = analyze.migration(analyze.paper, end, pack, transfer, end, pack)
    assert found == TABLE_4_4 * unit
    ce = in_c(end)
    sent = c.bounds_one_way(PAPER, ce, ce, c_message(m))
    assert c.bounds_migration(PAPER, ce, pack, sent, ce, pack) == found
    assert found > E_M * unit       # MIG_STRICT refuses


def test_message_case_has_at_most_640_slots():
    """More slots would need more waits than the number has. By equation 4.3, with a reply for each
    slot, each slot would take more than 1 ms of CPU time."""
    one_way = [n for n in range(1, 2000) if 0 <= TABLE_4_4 - (2 * n + 2) * WAIT < 2 * n * 1000]
    assert max(one_way) == 640
    replied = [n for n in range(1, 2000) if 0 <= TABLE_4_4 - (3 * n + 2) * WAIT]
    assert (TABLE_4_4 - (3 * max(replied) + 2) * WAIT) / max(replied) > 100


@pytest.mark.parametrize("receiver, served, trip, ours", [
    ((2, 10), 30, 204, 196), ((20, 100), 6, 252, 252), ((20, 130), 6, 282, 282),
    ((20, 200), 6, 352, 352), ((20, 230), 6, 382, 382)])      # 3 + 80 + 6 + 210 + 3 + 80
def test_table_4_1(c, receiver, served, trip, ours):
    """Sender 20/100, N = M, 4 KiB take 3 ms. The receiver 2/10 needs a multiple of its C, where the
    papers count T - C twice."""
    ends = alone(20, 100, 3 * UNIT // 4096), alone(*receiver, 3 * UNIT // 4096)
    m = Message(4096, 4096, 4096)
    assert analyze.send(ends[0], 4096) == 3 and analyze.serve(ends[1], m) == served
    assert analyze.round_trip(analyze.paper, *ends, m) == trip
    assert analyze.round_trip(analyze.response, *ends, m) == ours
    found = CResult()
    for seed in range(20):
        c.ipc_case(seed, Four(20, 100, *receiver), CMessage(3, 3, 3, 0), 50, found)
    assert found.exchanges == 1000 and list(found.late_trips) == [0, 0, 0]
    assert found.longest > trip // 2


TABLE_4_2 = [(20, 50, 20, 50), (10, 100, 10, 100), (10, 100, 10, 50), (10, 100, 10, 200),
             (5, 100, 5, 130), (10, 200, 10, 200)]


@pytest.mark.parametrize("case", TABLE_4_2)
def test_table_4_2(c, case):
    """4 MiB by slots of 4 KiB, which take 1 ms each to write and to read."""
    sender, receiver = alone(*case[:2], UNIT // 4096), alone(*case[2:], UNIT // 4096)
    m = Message(4 << 20, 0, 4096)
    bound = analyze.one_way(analyze.paper, sender, receiver, m)
    assert bound == 1024 * (1 + case[1] - case[0] + 1 + case[3] - case[2])
    assert analyze.one_way(analyze.response, sender, receiver, m) == bound
    assert 0 < c.ipc_stream(1, Four(*case), CMessage(1024, 0, 1, 0)) <= bound


def test_several_slots():
    """Equation 4.3: each slot of the request counts as a round trip."""
    sender, receiver = alone(20, 100), alone(20, 130)
    for rule in RULES:
        one = analyze.round_trip(rule, sender, receiver, Message(8, 3, 8, 2))
        assert analyze.round_trip(rule, sender, receiver, Message(17, 3, 8, 2)) == 3 * one
    one = analyze.round_trip(analyze.paper, sender, receiver, Message(8, 3, 8, 2))
    assert one == (8 + 80) + (13 + 110) + (3 + 80)


# C and Python agree

numbers = st.one_of(st.integers(0, 300), st.integers(0, analyze.NEVER),
                    st.sampled_from([analyze.NEVER, analyze.NEVER - 1]))
periods = st.one_of(st.integers(2, 300), st.integers(2, admission.PERIOD_MAX))


@st.composite
def ends(draw):
    vcpus = []
    for number in range(draw(st.integers(1, 5))):
        period = draw(periods)
        io = number > 0 and draw(st.booleans())
        budget = draw(st.integers(1, max(1, (period - io) // draw(st.sampled_from([1, 2, 4, 10])))))
        vcpus.append(Vcpu(budget, period, io))
    me = draw(st.sampled_from([i for i, v in enumerate(vcpus) if not v.io]))
    return End(vcpus, me, draw(numbers), draw(st.one_of(st.just(0), numbers)), draw(st.booleans()))


messages = st.builds(Message, numbers, numbers, numbers.map(lambda n: n or 1), numbers)


@examples(1000)
@given(ends(), ends(), messages, numbers, numbers, numbers)
def test_c_and_python_agree(c, s, r, m, pack, transfer, unpack):
    cs, cr, cm = in_c(s), in_c(r), c_message(m)
    assert c.bounds_demand(cs, m.bytes) == analyze.demand(s, m.bytes)
    assert c.bounds_spread(cs, pack) == analyze.spread(s, pack)
    assert c.bounds_send(cs, m.bytes) == analyze.send(s, m.bytes)
    assert c.bounds_serve(cr, cm) == analyze.serve(r, m)
    for number, rule in enumerate(RULES):
        assert c.bounds_wait(number, cs, pack) == analyze.wait(rule, s, pack)
        assert c.bounds_round_trip(number, cs, cr, cm) == analyze.round_trip(rule, s, r, m)
        assert c.bounds_one_way(number, cs, cr, cm) == analyze.one_way(rule, s, r, m)
        assert c.bounds_migration(number, cs, pack, transfer, cr, unpack) == \
            analyze.migration(rule, s, pack, transfer, r, unpack)


@examples(1000)
@given(numbers, numbers)
def test_demand_is_rounded_up_and_no_more(count, cost):
    exact = Fraction(count * cost, UNIT)
    found = analyze.demand(alone(1, 2, cost), count)
    assert exact <= found < exact + 1 or found == analyze.NEVER <= exact


@examples(1000)
@given(ends(), st.integers(1, 1000))
def test_rules_in_order(end, amount):
    """The bound for the VCPUs of a cell is at most the bound for any admitted VCPUs, and at least
    the papers', except where x is a multiple of C: the papers count T - C twice there."""
    ours = analyze.wait(analyze.response, end, amount)
    if ours != analyze.NEVER:
        assert ours <= analyze.wait(analyze.admitted, end, amount)
        v = end.vcpu
        twice = v.period - v.budget if amount % v.budget == 0 else 0
        assert ours >= analyze.wait(analyze.paper, end, amount) - twice


# Runs of the scheduler core

class Cell:
    """A scheduler whose VCPUs have one thread each."""

    def __init__(self, *vcpus: tuple[int, int]):
        self.core = core.Core(background=False, admission=core.EXACT)
        self.threads = [self.core.entity(self.core.create(*v)) for v in vcpus]

    def ready(self, number: int, now: int) -> None:
        self.core.ready(self.threads[number], now)

    def runs(self, number: int, now: int) -> bool:
        return self.core.decide(now).entity == self.threads[number]


def test_the_papers_bound_is_broken():
    """The receiver 4/12 polls, with a VCPU 4/10 above it. It has used its budget when the message
    comes at 4; when it gets budget again, at 12, the other VCPU runs until 16. So it replies at 17
    instead of 13, and the round trip takes 15 instead of 11. The sender has a CPU for itself."""
    sender = Cell((10, 10))
    receiver = Cell((4, 10), (4, 12))
    ends = alone(10, 10), End([Vcpu(4, 10), Vcpu(4, 12)], 1, 0)
    m = Message(1, 1, 8, 1)         # the receiver computes for 1
    sender.ready(0, 0)
    receiver.ready(1, 0)
    now, arrived = 0, []
    for cell, number in ((sender, 0), (receiver, 1), (sender, 0)):
        served = False
        while not served:
            if now == 12:
                receiver.ready(0, now)
            # the request is sent at 3, so that it arrives at 4
            served = cell.runs(number, now) and now >= 3
            for other in (sender, receiver):
                other.core.decide(now)
            now += 1
        arrived.append(now)
    assert arrived == [4, 17, 18]
    assert [analyze.round_trip(rule, *ends, m) for rule in RULES] == [11, 15, 19]
    assert arrived[-1] - 3 == 15


def search(c, seeds: range, limit: int = core.QUEUE_MAX) -> CResult:
    found = CResult()
    for seed in seeds:
        c.ipc_random(seed, EXCHANGES, limit, found)
    return found


@pytest.mark.parametrize("limit", [core.QUEUE_MAX, 4, 2])
def test_random_exchanges(c, limit):
    found = search(c, range(600), limit)
    assert list(found.late_waits[RESPONSE:]) == list(found.late_trips[RESPONSE:]) == [0, 0]
    assert found.late_waits[PAPER] and found.late_trips[PAPER]


@pytest.mark.slow
@pytest.mark.parametrize("limit", [core.QUEUE_MAX, 4, 2])
def test_many_random_exchanges(c, limit):
    found = search(c, range(10000, 30000), limit)
    assert list(found.late_waits[RESPONSE:]) == list(found.late_trips[RESPONSE:]) == [0, 0]
    assert found.late_trips[PAPER] > 50
    assert found.closest >= 990 or limit < core.QUEUE_MAX


# file, its text, the mutant's text
MUTANTS = {
    "the papers' rule": ("sum(wait, admission_response_to(end->set, end->n, end->me, rest))", "sum(wait, rest)"),
    "the last part waits for nothing": ("period(end) - (end->merged ? 0 : budget(end))", "0"),
    "merging costs nothing": ("end->merged ? 0 : budget(end)", "budget(end)"),
    "one time unit less": ("return sum(wait, end->wake);", "return wait - 1;"),
    "any VCPUs: T - C once": ("sum(wait, period(end) - budget(end) + rest)", "sum(wait, rest)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_noticed(name, tmp_path):
    old, new = MUTANTS[name]
    text = (TOP / "inmates/quest/ipc/bounds.c").read_text()
    assert text.count(old) == 1, "the mutant does not fit the source any more"
    (tmp_path / "bounds.c").write_text(text.replace(old, new))
    out = tmp_path / "mutant.so"
    subprocess.run(["gcc", *core.FLAGS, "-w", f"-I{TOP / 'inmates/quest/ipc'}", "-o", str(out), str(tmp_path / "bounds.c"),
                    *(str(f) for f in SOURCES if f.name != "bounds.c")], check=True)
    lib = ctypes.CDLL(str(out))
    lib.ipc_random.argtypes = [c_uint64, c_uint, c_uint, POINTER(CResult)]
    lib.ipc_random.restype = None
    found = [search(lib, range(600), limit) for limit in (core.QUEUE_MAX, 2)]
    assert any(sum(f.late_waits[RESPONSE:]) for f in found)
