# SPDX-License-Identifier: GPL-2.0-only
"""A reference model of the scheduler, as simple as possible: it searches lists, computes with
fractions, and has no tree. test_sched_model.py compares the C core with it. The equations are those
of Documentation/explanation/quest-scheduling.md."""
from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

NEVER = (1 << 64) - 1
MAIN, IO, BACKGROUND = range(3)
PERIOD_MAX = 1 << 42


class Main:
    """A sporadic server. Its queue is a list of replenishments [t, b]."""

    def __init__(self, budget: int, period: int, at: int, limit: int = 32):
        self.C, self.T, self.limit = budget, period, limit
        self.queue, self.usage = [[at, budget]], 0

    def period(self) -> int:
        return self.T

    def eligible(self) -> int:
        return self.queue[0][0]

    def left(self) -> int:
        return self.queue[0][1] - self.usage

    def _insert(self, t: int, b: int) -> None:
        self.queue.append([t, b])
        # the sort is stable: the chunk is behind others of the same time
        self.queue.sort(key=lambda chunk: chunk[0])

    def dispatch(self, now: int) -> None:
        pass

    def charge(self, delta: int, now: int) -> int:
        # the chunk was not usable at the start of this use: this is the next part of an overrun
        if self.queue[0][0] > now - delta:
            self.usage += delta
            self._put_off(delta if self.left() > 0 else self._rotate())
            return delta
        over = max(0, delta - self.left())
        self.usage += delta
        if self.left() > 0:
            return 0
        self._put_off(self._rotate())
        return over

    def _rotate(self) -> int:
        """Replenishes chunks that are used up a period later. Returns the rest of the usage, an
        overrun."""
        while self.queue[0][1] <= self.usage:
            t, b = self.queue.pop(0)
            self.usage -= b
            self._insert(t + self.T, b)
        return self.usage

    def _put_off(self, overrun: int) -> None:
        if overrun:
            self.queue[0][0] += overrun
            while len(self.queue) > 1 and sum(self.queue[0]) >= self.queue[1][0]:
                t, b = self.queue.pop(0)
                self.queue[0] = [t, self.queue[0][1] + b]

    def block(self, now: int) -> None:
        if not self.usage or self.queue[0][0] > now:
            return
        self.queue[0][1] -= self.usage
        self._insert(self.queue[0][0] + self.T, self.usage)
        self.usage = 0
        if len(self.queue) > self.limit:
            i = min(range(1, self.limit), key=lambda i: self.queue[i][1] * (self.queue[i + 1][0] - self.queue[i][0]))
            _, b = self.queue.pop(i)
            self.queue[i][1] += b

    def wake(self, period: int, active: bool, now: int) -> None:
        if active or self.queue[0][0] > now:
            return
        self.queue[0][0] = now
        while len(self.queue) > 1 and self.queue[1][0] <= now + self.left():
            _, b = self.queue.pop(0)
            self.queue[0] = [now, self.queue[0][1] + b]

    def set(self, budget: int, period: int, at: int) -> None:
        self.__init__(budget, period, at, self.limit)

    def settled(self) -> int:
        return self.queue[0][0] + self.T if self.usage else self.queue[-1][0]


class Pibs:
    """The server of an I/O VCPU (PIBS). U is a fraction."""

    def __init__(self, budget: int, period: int, at: int):
        self.U, self.base, self.T, self.e = Fraction(budget, period), period, period, at
        self.b = self.u = 0

    def period(self) -> int:
        return self.T

    def eligible(self) -> int:
        return self.e

    def _full(self) -> int:
        return max(1, math.floor(self.U * self.T))

    def left(self) -> int:
        return self.b or self._full()

    def _finish(self) -> None:
        self.e += math.ceil(self.u / self.U)
        self.u = self.b = 0

    def dispatch(self, now: int) -> None:
        if not self.b and self.e <= now:
            self.e, self.b = now, self._full()          # t, the start

    def charge(self, delta: int, now: int) -> int:
        over = max(0, delta - self.b)
        self.u += delta
        self.b = max(0, self.b - delta)
        if not self.b:
            self._finish()
        return over

    def block(self, now: int) -> None:
        if self.b:
            self._finish()

    def wake(self, period: int, active: bool, now: int) -> None:
        period = period or self.base
        if active and period >= self.T:
            return
        self.T = period
        if self.b:
            self.b = max(0, min(self.b, self._full() - self.u))
            if not self.b:
                self._finish()
        elif not active:
            self.e = max(self.e, now)

    def set(self, budget: int, period: int, at: int) -> None:
        self.__init__(budget, period, at)

    def settled(self) -> int:
        return self.e + (math.ceil(self.u / self.U) if self.b else 0)


class Never:
    """No budget."""

    def period(self) -> int:
        return PERIOD_MAX

    def eligible(self) -> int:
        return NEVER

    def left(self) -> int:
        return 0

    def dispatch(self, now: int) -> None:
        pass

    block = dispatch

    def charge(self, delta: int, now: int) -> int:
        return 0

    def wake(self, period: int, active: bool, now: int) -> None:
        pass


@dataclass
class Vcpu:
    kind: int
    server: Main | Pibs | Never
    queue: list[int] = field(default_factory=list)     # runnable entities, in round-robin order
    used: int = 0
    background: int = 0
    depleted: int = 0
    overruns: int = 0
    overrun_max: int = 0
    # time when the use before the last change of parameters is replenished
    settled: int = 0
    used_then: int = 0          # value of `used` at the last change of parameters


@dataclass
class Entity:
    vcpu: int
    slice: int = 0
    runnable: bool = False


class Model:
    """The model of a scheduler. It has no admission test: callers create only VCPUs that the core
    has admitted."""

    def __init__(self, quantum: int, background: bool):
        self.quantum, self.allowed = quantum, background
        self.vcpus: dict[int, Vcpu] = {}
        self.entities: list[Entity] = []
        self.ring: list[int] = []  # runnable VCPUs; the first is next in the background
        self.current: int | None = None
        self.in_background = False
        self.charged = self.idle = 0

    def create(self, vcpu: int, kind: int, budget: int, period: int, now: int, limit: int = 32) -> None:
        server = Main(budget, period, now, limit) if kind == MAIN else Pibs(budget, period, now) if kind == IO else Never()
        self.vcpus[vcpu] = Vcpu(kind, server)

    def entity(self, vcpu: int) -> int:
        self.entities.append(Entity(vcpu))
        return len(self.entities) - 1

    def key(self, vcpu: int) -> tuple[int, bool, int]:
        v = self.vcpus[vcpu]
        return v.server.period(), v.kind != IO, vcpu

    def _charge_budget(self, v: Vcpu, delta: int, now: int) -> None:
        v.depleted += delta >= v.server.left()
        over = v.server.charge(delta, now)
        v.used += delta
        v.overruns += over > 0
        v.overrun_max = max(v.overrun_max, over)

    def charge(self, now: int) -> None:
        delta = now - self.charged
        if delta <= 0:
            return
        self.charged = now
        if self.current is None:
            self.idle += delta
            return
        e = self.entities[self.current]
        v = self.vcpus[e.vcpu]
        if self.in_background:
            v.background += delta
        else:
            self._charge_budget(v, delta, now)
        e.slice -= delta
        if e.slice <= 0:
            e.slice = self.quantum
            v.queue.remove(self.current)
            v.queue.append(self.current)
            if self.in_background:
                i = (self.ring.index(e.vcpu) + 1) % len(self.ring)
                self.ring = self.ring[i:] + self.ring[:i]

    def interrupt(self, vcpu: int, since: int, now: int) -> None:
        """Charges a handler, which counts as a dispatch of the VCPU, whether or not the VCPU is
        runnable."""
        self.charge(since)
        if now <= self.charged:
            return
        v = self.vcpus[vcpu]
        if not v.queue:
            v.server.wake(0, False, self.charged)
        v.server.dispatch(self.charged)
        self._charge_budget(v, now - self.charged, now)
        if not v.queue:
            v.server.block(now)
        self.charged = now

    def ready(self, entity: int, period: int, now: int) -> None:
        self.charge(now)
        e = self.entities[entity]
        v = self.vcpus[e.vcpu]
        active = bool(v.queue)
        v.server.wake(period, active, now)
        if not active:
            self.ring.append(e.vcpu)
        if not e.runnable:
            e.runnable, e.slice = True, self.quantum
            v.queue.append(entity)

    def block(self, entity: int, now: int) -> None:
        e = self.entities[entity]
        v = self.vcpus[e.vcpu]
        if not e.runnable:
            return
        self.charge(now)
        if self.current == entity:
            self.current = None
        e.runnable = False
        v.queue.remove(entity)
        if not v.queue:
            v.server.block(now)
            self.ring.remove(e.vcpu)

    def bind(self, entity: int, vcpu: int, now: int) -> None:
        e = self.entities[entity]
        if e.vcpu == vcpu:
            return
        runnable, current = e.runnable, self.current == entity
        self.block(entity, now)
        e.vcpu = vcpu
        if runnable:
            self.ready(entity, 0, now)
        if current:
            self.current = entity
            server = self.vcpus[vcpu].server
            # Time in the background is charged to no budget
            self.in_background = server.eligible() > now
            if not self.in_background:
                server.dispatch(now)

    def set(self, vcpu: int, budget: int, period: int, now: int, begin: int) -> None:
        """Changes budget and period. `begin` is when the past use of other VCPUs allows the change.
        The core has computed it, and the model does not test it again."""
        self.charge(now)
        v = self.vcpus[vcpu]
        if v.used != v.used_then:
            v.settled = max(v.settled, min(v.server.settled(), now + v.server.period()))
        v.used_then = v.used
        assert begin >= max(now, v.settled)
        v.server.set(budget, period, begin)

    def decide(self, now: int) -> tuple[int | None, int, bool]:
        self.charge(now)
        wanting = sorted((i for i, v in self.vcpus.items() if v.queue), key=self.key)
        able = [i for i in wanting if self.vcpus[i].server.eligible() <= now]
        self.in_background = not able
        until = min((self.vcpus[i].server.eligible() for i in wanting), default=NEVER)
        turns = False
        if able:
            v = self.vcpus[able[0]]
            v.server.dispatch(now)
            higher = wanting[:wanting.index(able[0])]
            until = min([now + v.server.left(), *(self.vcpus[i].server.eligible() for i in higher)])
            self.current = v.queue[0]
            turns = len(v.queue) > 1
        elif self.allowed and self.ring:
            v = self.vcpus[self.ring[0]]
            self.current = v.queue[0]
            turns = len(v.queue) > 1 or len(self.ring) > 1
        else:
            self.current = None
        if turns:
            until = min(until, now + self.entities[self.current].slice)
        return self.current, until, self.in_background
