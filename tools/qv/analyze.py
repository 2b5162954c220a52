# SPDX-License-Identifier: GPL-2.0-only
"""The longest times that messages between two cells take, and that a program takes to move.
Computes as inmates/quest/ipc/bounds.c does, which names the equations, with the same integers.
inmates/tests/test_ipc_bounds.py compares both."""

from __future__ import annotations

from . import admission
from .record import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .admission import Vcpu

    # a rule: the end and its demand
    Rule = Callable[["End", int], int]

NEVER = (1 << 64) - 1  # a time that exceeds 64 bits
COST_BITS = 32


@dataclass(frozen=True)
class End:
    """One end of a channel: a thread, which has Main VCPU `me` of its cell for itself."""

    vcpus: Sequence[Vcpu]  # all VCPUs of the cell, in any unit of time
    me: int
    cost: int  # of a byte, in 2^-32 of the unit of time
    wake: int = 0  # from a bell until the thread is runnable; 0: the thread polls
    merged: bool = False  # the chunks of its budget may be merged

    @property
    def vcpu(self) -> Vcpu:
        return self.vcpus[self.me]


@dataclass(frozen=True)
class Message:
    bytes: int  # N, of the request
    reply: int  # M, of the reply
    slot: int  # B, of the channel's slot
    service: int = 0  # K, the time that the receiver computes for each slot


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def demand(end: End, count: int) -> int:
    """Returns the CPU time that `end` needs for `count` bytes, rounded up."""
    return min(_ceil(count * end.cost, 1 << COST_BITS), NEVER)


def spread(end: End, amount: int) -> int:
    """Returns floor(x / C) * T + x mod C."""
    periods, rest = divmod(amount, end.vcpu.budget)
    return min(periods * end.vcpu.period + rest, NEVER)


def send(sender: End, count: int) -> int:
    """S(N)"""
    return spread(sender, demand(sender, count))


def _service(receiver: End, count: int, reply: int, service: int) -> int:
    return min(demand(receiver, count) + demand(receiver, reply) + service, NEVER)


def serve(receiver: End, m: Message) -> int:
    """R(N, M), equation 4.1"""
    return spread(receiver, _service(receiver, m.bytes, m.reply, m.service))


def paper(end: End, amount: int) -> int:
    """The papers' rule: holds only for the VCPU of the highest priority."""
    return min(spread(end, amount) + end.vcpu.period - end.vcpu.budget, NEVER)


def _common(end: End, amount: int) -> tuple[int, int]:
    """Returns what both rules below have in common, and the last part of the demand."""
    periods = max(amount - 1, 0) // end.vcpu.budget
    waits = end.vcpu.period - (0 if end.merged else end.vcpu.budget)
    return periods * end.vcpu.period + waits + end.wake, max(amount, 1) - periods * end.vcpu.budget


def response(end: End, amount: int) -> int:
    """k * T + (T - C) + R(r): holds with the VCPUs of the cell."""
    if admission.response(end.vcpus, end.me) is None:
        return NEVER
    wait, rest = _common(end, amount)
    last = admission.response(end.vcpus, end.me, rest)
    return NEVER if last is None else min(wait + last, NEVER)


def admitted(end: End, amount: int) -> int:
    """k * T + 2 * (T - C) + r: holds whichever VCPUs the cell admits now or later."""
    wait, rest = _common(end, amount)
    return min(wait + end.vcpu.period - end.vcpu.budget + rest, NEVER)


def wait(rule: Rule, end: End, amount: int) -> int:
    """Returns the longest time from the arrival of a demand until it is served. With `paper`:
    equations 4.5, 4.6 and 4.8."""
    return NEVER if amount >= NEVER else rule(end, amount)


def _slots(count: int, slot: int) -> int:
    return max(_ceil(count, slot), 1)


def round_trip(rule: Rule, sender: End, receiver: End, m: Message) -> int:
    """Equations 4.2 and 4.3."""
    count, reply = min(m.bytes, m.slot), min(m.reply, m.slot)
    one = (
        wait(rule, sender, demand(sender, count))
        + wait(rule, receiver, _service(receiver, count, reply, m.service))
        + wait(rule, sender, demand(sender, reply))
    )
    return min(max(_slots(m.bytes, m.slot), _slots(m.reply, m.slot)) * one, NEVER)


def one_way(rule: Rule, sender: End, receiver: End, m: Message) -> int:
    """Equation 4.4."""
    count = min(m.bytes, m.slot)
    one = wait(rule, sender, demand(sender, count)) + wait(
        rule, receiver, _service(receiver, count, 0, m.service)
    )
    return min(_slots(m.bytes, m.slot) * one, NEVER)


def migration(
    rule: Rule, source: End, pack: int, transfer: int, destination: End, unpack: int
) -> int:
    """Equation 4.7; `transfer` is the result of one_way() or round_trip()."""
    return min(wait(rule, source, pack) + transfer + wait(rule, destination, unpack), NEVER)
