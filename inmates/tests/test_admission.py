# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the two admission tests: known values, results with exact fractions, and the C core
compared with tools/qv/admission.py."""
import math
import os
import subprocess
from fractions import Fraction
from pathlib import Path

import core
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qv import admission
from qv.admission import Vcpu

TOP = Path(__file__).resolve().parents[2]

LIMITS = {1: 1.0, 2: .8284, 3: .7798, 4: .7568, 5: .7435, 256: .6941}
BASE = [(10, 100, False), (20, 100, False), (20, 100, False), (1, 10, True)]



def examples(number):
    """Tries this number of examples where slow tests run, and a quarter of it otherwise."""
    number = number if os.environ.get("SLOW") else number // 4
    return settings(max_examples=number, deadline=None, derandomize=True)


periods = st.one_of(st.integers(2, 300), st.integers(2, admission.PERIOD_MAX))


@st.composite
def a_vcpu(draw):
    period = draw(periods)
    io = draw(st.sampled_from([False, False, False, True]))
    share = draw(st.sampled_from([1, 2, 4, 10, 30]))
    return draw(st.integers(1, max(1, (period - 1) // share))), period, io


sets = st.lists(a_vcpu(), min_size=1, max_size=12)


def entries(vcpus):
    return [Vcpu(*v) for v in vcpus]


@pytest.mark.parametrize("n", LIMITS)
def test_limits(n):
    _, limit, _, _ = core.admission([(1, 1000000, False)] * n)
    assert limit / 2 ** 62 == pytest.approx(LIMITS[n], abs=5e-5)


def test_limits_are_rounded_down_and_no_more():
    """The bound is l = n * (2^(1/n) - 1), so (1 + l/n)^n <= 2. If l is one unit larger, the power
    is above 2."""
    for n in range(1, 257):
        limit = admission.limit(n)
        assert (Fraction(limit, n << 62) + 1) ** n <= 2 < (Fraction(limit + 1, n << 62) + 1) ** n


def test_table_is_what_the_script_makes():
    made = subprocess.run([str(TOP / "scripts/bounds")], capture_output=True, text=True, check=True).stdout
    assert made == (core.SCHED / "bounds.h").read_text()


def test_known_sets():
    assert core.admission(BASE)[0] / 2 ** 62 == pytest.approx(.69)
    assert core.admission(BASE)[2]
    assert core.admission([*BASE, (20, 100, False)])[0] / 2 ** 62 == pytest.approx(.89)
    assert not core.admission([*BASE, (20, 100, False)])[2]
    # a single VCPU gets the whole CPU
    assert core.admission([(7, 7, False)])[2:] == (True, True)
    assert core.admission([(50, 100, False), (50, 100, False)])[2:] == (False, True)
    assert core.admission([(50, 100, False), (51, 100, False)])[2:] == (False, False)


def test_response_times():
    """Three tasks of a textbook: R = 1, 3, 10 of T = 4, 6, 13."""
    tasks = [(1, 4, False), (2, 6, False), (3, 13, False)]
    assert [core.response(tasks, i) for i in range(3)] == [1, 3, 10]
    assert core.response([*tasks, (4, 14, False)], 3) is None


def test_io_vcpu_interferes():
    """I(t) = (1 + ceil((t - T U) / T)) * T U with T = 100, U = 10 %: 20 within the first 110."""
    assert core.response([(30, 100, False), (1, 10, True)], 0) == 50
    assert core.response([(80, 100, False), (1, 10, True)], 0) == 100
    assert core.response([(81, 100, False), (1, 10, True)], 0) is None


def test_io_vcpu_that_works_for_nobody_known():
    """The I/O VCPU works at its own period here. With T = 1000 and U = 2 %, it takes 20 three times
    within 1020 to 1100. With a period of 1100, it takes 22 twice."""
    assert core.response([(1040, 1100, False), (20, 1000, True)], 0) == 1100
    assert core.response([(1041, 1100, False), (20, 1000, True)], 0) is None
    # a longer period has a lower priority, so the I/O VCPU takes 18 twice
    assert core.response([(500, 900, False), (20, 1000, True)], 0) == 536


@examples(1500)
@given(sets)
def test_core_and_qvctl_agree(vcpus):
    v = entries(vcpus)
    load, limit, bound, exact = core.admission(vcpus)
    if load <= 1 << 62:
        assert load == admission.load(v)            # the core stops adding above 1
    assert limit == admission.limit(sum(not x.io for x in v))
    assert bound == admission.within_bound(v)
    assert exact == admission.in_time(v)
    for i, x in enumerate(v):
        if not x.io:
            assert core.response(vcpus, i) == admission.response(v, i)


@examples(1000)
@given(sets)
def test_load_is_rounded_up_and_no_more_than_that(vcpus):
    exact = sum((2 - Fraction(c, t)) * Fraction(c, t) if io else Fraction(c, t) for c, t, io in vcpus)
    above = Fraction(admission.load(entries(vcpus)), 1 << 62) - exact
    assert 0 <= above <= Fraction(4 * len(vcpus), 1 << 62)


@examples(800)
@given(sets)
def test_within_bound_means_in_time(vcpus):
    """The bound is sufficient: all Main VCPUs that the bound admits are admitted by the exact
    test."""
    mains = [v for v in vcpus if not v[2] and v[1] < 100000]
    if mains and core.admission(mains)[2]:
        assert core.admission(mains)[3]


@examples(1500)
@given(sets, st.integers(0, 12))
def test_hyperbolic_bound(vcpus, existing):
    """Compares with fractions. The product of 1 + C/T is at most 2, where the I/O VCPUs' share is
    added to the smallest C/T of the existing VCPUs."""
    existing = min(existing, len(vcpus))
    io = sum((2 - Fraction(c, t)) * Fraction(c, t) for c, t, is_io in vcpus if is_io)
    shares = [Fraction(c, t) for c, t, is_io in vcpus if not is_io]
    mains = (Fraction(c, t) for c, t, is_io in vcpus[:existing] if not is_io)
    least = min(mains, default=Fraction(0))
    product = math.prod(1 + u for u in shares) * (1 + least + io) / (1 + least)
    if abs(product - 2) > Fraction(1, 1 << 50) and abs(io - 1) > Fraction(1, 1 << 50):
        assert core.with_past(vcpus, existing) == (product <= 2 and io <= 1)


@examples(1000)
@given(sets)
def test_what_the_bound_admits_is_within_the_hyperbolic(vcpus):
    """Destroyed VCPUs that used almost nothing delay no other VCPU. Results are rounded up, so a
    set exactly on the bound is an exception."""
    if core.admission([*vcpus, (1, 1 << 40, True)])[2]:
        assert core.with_past(vcpus, len(vcpus))


@examples(500)
@given(sets, st.integers(0, 12))
def test_exact_with_past_use_is_the_response_time(vcpus, existing):
    existing = min(existing, len(vcpus))
    assert core.with_past(vcpus, existing, core.EXACT) == all(
        io or core.response(vcpus, i) is not None for i, (_, _, io) in enumerate(vcpus[:existing]))


def in_cycles(vcpus, khz):
    """Converts to cycles as kernel/vcpu/vcpu.c does: rounds C down and T up."""
    return [(c * khz // 1000, -(-t * khz // 1000), io) for c, t, io in vcpus]


@examples(800)
@given(st.lists(st.tuples(st.integers(1, 40), st.sampled_from([10, 20, 50, 80, 100]), st.booleans()), min_size=1, max_size=6),
       st.integers(100, 1000), st.integers(10000, 5000000))
def test_what_the_bound_admits_in_microseconds_it_admits_in_cycles(vcpus, unit, khz):
    in_us = [(min(c, t - io) * unit, t * unit, io) for c, t, io in vcpus]
    assert core.admission(in_cycles(in_us, khz))[2] or not core.admission(in_us)[2]


@examples(800)
@given(st.lists(st.tuples(st.integers(1, 5), st.sampled_from([10, 20, 40])), min_size=1, max_size=4), st.integers(100, 1000),
       st.integers(10000, 5000000))
def test_what_just_fits_in_microseconds_fits_in_cycles(pairs, unit, khz):
    """Periods are harmonic, and the VCPU with the longest period takes the rest of the CPU, so that
    no cycle remains."""
    rest = 80 - sum(c * 80 // t for c, t in pairs)
    in_us = [(c * unit, t * unit, False) for c, t in [*pairs, (rest, 80)]]
    if rest > 0:
        assert core.response(in_us, len(pairs)) == 80 * unit
        assert core.admission(in_cycles(in_us, khz))[3]


@examples(300)
@given(st.lists(st.tuples(st.integers(1, 6), st.sampled_from([4, 5, 6, 8, 10, 12])), min_size=1, max_size=5))
def test_exact_is_exact(pairs):
    """Simulates a hyperperiod in which all VCPUs begin together and are always runnable."""
    vcpus = [(min(c, t), t, False) for c, t in pairs]
    periods = math.lcm(*(t for _, t, _ in vcpus))
    order = sorted(range(len(vcpus)), key=lambda i: vcpus[i][1])
    left, met = [0] * len(vcpus), True
    for now in range(periods):
        for i, (c, t, _) in enumerate(vcpus):
            if now % t == 0:
                met &= left[i] == 0
                left[i] = c
        for i in order:
            if left[i]:
                left[i] -= 1
                break
    assert core.admission(vcpus)[3] == (met and not any(left))
