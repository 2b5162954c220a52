# SPDX-License-Identifier: GPL-2.0-only
"""
Figure 4.3 of the dissertation: two Main VCPUs and an I/O VCPU, (A) as Quest schedules them, (B) by the wording of
POSIX. VCPU0's parameters are not printed there but follow from the text: preempted at 1, 41, 81; 18 units by 28.
"""
from pathlib import Path

import core
import pytest
from simulate import Compute, Io, Simulation, Until, use

TOP = Path(__file__).resolve().parents[2]

END = 150


def figure(lib=None) -> Simulation:
    c = core.Core(background=False, admission=core.EXACT, lib=lib)
    vcpu0 = c.create(10, 40)
    vcpu1 = c.create(20, 50)
    io = c.create(4, 100, core.IO)
    s = Simulation(c)
    s.server("io", io)
    s.thread("one", vcpu1, iter([Compute(18), Io("io", 2, 40), Compute(18), Io("io", 2), Compute()]), period=50)
    s.thread("zero", vcpu0, iter([Until(1), Compute()]))
    s.watch(vcpu1)
    s.run(END)
    return s


@pytest.fixture(scope="module")
def a() -> Simulation:
    return figure()


@pytest.fixture(scope="module")
def b(tmp_path_factory) -> Simulation:
    sources = [f for f in core.SCHED.glob("*.c") if f.name != "sporadic.c"]
    posix = TOP / "inmates/tests/posix/sporadic.c"
    return figure(core.load(core.compile_library(tmp_path_factory.mktemp("posix") / "posix.so", [*sources, posix])))


def test_a_when_each_runs(a):
    assert a.of("one") == [(0, 1), (11, 28), (40, 41), (51, 68), (80, 81), (91, 94), (100, 116), (131, 133), (140, 142)]
    assert a.of("io") == [(28, 30), (78, 80)]
    assert a.of("zero") == [(1, 11), (41, 51), (81, 91), (121, 131)]


def test_a_queue_at_every_change(a):
    assert a.queues[1] == [
        (0, [(0, 20)]),
        (28, [(0, 2), (50, 18)]),                   # the VCPU blocks
        # the VCPU unblocks: a new replenishment phase begins
        (40, [(40, 2), (50, 18)]),
        (52, [(50, 18), (90, 2)]),
        (68, [(50, 2), (90, 2), (100, 16)]),        # the VCPU blocks
        (80, [(80, 2), (90, 2), (100, 16)]),        # unblocks
        (92, [(90, 2), (100, 16), (130, 2)]),
        (94, [(100, 16), (130, 2), (140, 2)]),
        (116, [(130, 2), (140, 2), (150, 16)]),
        (133, [(140, 2), (150, 16), (180, 2)]),
        (142, [(150, 16), (180, 2), (190, 2)]),
    ]


def test_a_amounts_add_up(a):
    assert all(sum(amount for _, amount in queue) == 20 for _, queue in a.queues[1])


def test_a_use(a):
    assert use(a.segments, 1, 0, 100) == 40
    assert use(a.segments, 1, 50, 100) == 21
    assert use(a.segments, 1, 0, 150) == 60
    assert 100 - sum(use(a.segments, v, 0, 100) for v in range(3)) == 26


def test_b_posix_amplifies(b):
    assert b.of("one")[:6] == [(0, 1), (11, 28), (40, 41), (51, 68), (80, 81), (91, 110)]
    assert b.of("io") == [(28, 30), (78, 80)]
    assert use(b.segments, 1, 0, 100) == 46
    assert use(b.segments, 1, 0, 150) == 75
    assert 100 - sum(use(b.segments, v, 0, 100) for v in range(3)) == 20


def test_b_posts_18_and_18(b):
    posted = {replenishment for _, queue in b.queues[1] for replenishment in queue}
    assert {(50, 18), (90, 18)} <= posted


def test_io_is_eligible_again_at_78():
    """t_e = t + C_actual / U = 28 + 2 / 4 %"""
    c = core.Core(background=False)
    io = c.create(4, 100, core.IO)
    e = c.entity(io)
    c.ready(e, 28, 50)
    assert c.decide(28) == core.Choice(0, 30, False)
    c.block(e, 30)
    assert c.io(io)[1] == 78
    c.ready(e, 68, 50)
    assert c.decide(68) == core.Choice(None, 78, True)
    assert c.decide(78) == core.Choice(0, 80, False)
