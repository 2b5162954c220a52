# SPDX-License-Identifier: GPL-2.0-only
"""The admission test: whether VCPUs can share one CPU. Computes as Quest does at run time (the
equations are in inmates/quest/sched/admission.c), with the same integers in the same order.
inmates/tests/test_admission.py compares both."""

from __future__ import annotations

from .record import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

UNITS = 62  # shares are counted in units of 2^-62
PERIOD_MAX = 1 << 42  # cycles
MAX_VCPUS = 256
ROUNDS = 256  # largest number of steps of the iteration for one response time


@dataclass(frozen=True)
class Vcpu:
    budget: int  # C, in any unit of time that is the same for all VCPUs
    period: int  # T
    io: bool = False


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def _root(value: int, degree: int) -> int:
    """Returns the largest integer whose power `degree` is at most `value`."""
    root = 1 << -(-value.bit_length() // degree)
    while True:
        lower = ((degree - 1) * root + value // root ** (degree - 1)) // degree
        if lower >= root:
            return root
        root = lower


def limit(mains: int) -> int:
    """Returns n * (2^(1/n) - 1) in units of 2^-62, rounded down; 1 for n = 0."""
    if not mains:
        return 1 << UNITS
    return _root(mains**mains * 2 ** (1 + mains * UNITS), mains) - (mains << UNITS)


def load(vcpus: Sequence[Vcpu]) -> int:
    """Returns the sum of C/T, for I/O VCPUs of (2 - U) * U, in units of 2^-62, rounded up."""
    total = 0
    for v in vcpus:
        share = _ceil(v.budget << UNITS, v.period)
        total += _ceil(share * (2 * v.period - v.budget), v.period) if v.io else share
    return total


def within_bound(vcpus: Sequence[Vcpu]) -> bool:
    return load(vcpus) <= limit(sum(not v.io for v in vcpus))


def _io_interference(io: Vcpu, period: int, t: int) -> int:
    amount = _ceil(period * io.budget, io.period)
    return (1 + (_ceil(t - amount, period) if t > amount else 0)) * amount


def response(vcpus: Sequence[Vcpu], i: int, amount: int = 0) -> int | None:
    """Returns the longest time until Main VCPU `i` has run for `amount` of its budget (0: for all
    of it). None: the time exceeds the period, or was not found within ROUNDS."""
    me = vcpus[i]
    amount = amount or me.budget
    first = [v for j, v in enumerate(vcpus) if j != i and not v.io and v.period <= me.period]
    others = [v for v in vcpus if v.io]
    # The periods that an I/O VCPU may have. Its own period, if not longer than `me.period`, is
    # added below.
    periods = [v.period for v in (*first, me)]
    t = amount
    for _ in range(ROUNDS):
        demand = (
            amount
            + sum(_ceil(t, v.period) * v.budget for v in first)
            + sum(
                max(_io_interference(io, p, t) for p in (*periods, min(io.period, me.period)))
                for io in others
            )
        )
        if demand > me.period:
            return None
        if demand == t:
            return t
        t = demand
    return None


def in_time(vcpus: Sequence[Vcpu]) -> bool:
    return all(v.io or response(vcpus, i) is not None for i, v in enumerate(vcpus))
