# SPDX-License-Identifier: GPL-2.0-only
"""Simulates a CPU with the scheduler core. Records each switch and each change of a queue."""
from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from core import NEVER, Core


@dataclass(frozen=True)
class Compute:
    """Use the CPU for `amount`. None: never stop."""
    amount: int | None = None


@dataclass(frozen=True)
class Sleep:
    amount: int


@dataclass(frozen=True)
class Until:
    time: int


@dataclass(frozen=True)
class Period:
    """Sleep until the next multiple of `length` after the thread's start."""
    length: int


@dataclass(frozen=True)
class Io:
    """Have thread `server`, which is on an I/O VCPU, compute for `work`. Continue when it has
    finished, but not before `until`."""
    server: str
    work: int
    until: int = 0


Step = Compute | Sleep | Until | Period | Io


@dataclass
class Thread:
    name: str
    vcpu: int
    steps: Iterator[Step]
    start: int = 0
    entity: int = -1
    left: int | None = 0            # rest of the present Compute step
    # period of the thread's VCPU; servers that work for the thread inherit it
    period: int = 0
    # requests to a server: the work, the client, and the client's earliest wake-up
    jobs: list[tuple[int, "Thread", int]] = field(default_factory=list)


@dataclass(frozen=True)
class Segment:
    begin: int
    end: int
    thread: str
    vcpu: int
    background: bool


class Simulation:
    """Simulates one CPU. Add threads, then call run()."""

    def __init__(self, core: Core, switch_late: Callable[[], int] = lambda: 0):
        self.core = core
        self.now = 0
        self.threads: dict[str, Thread] = {}
        self.segments: list[Segment] = []
        self.queues: dict[int, list[tuple[int, list[tuple[int, int]]]]] = {}
        self.watched: list[int] = []
        self._late = switch_late            # a function that returns the delay of a switch
        self._by_entity: dict[int, Thread] = {}
        self._events: list[tuple[int, int, Thread]] = []
        self._count = 0

    def thread(self, name: str, vcpu: int, steps: Iterator[Step], period: int = 0,
               start: int = 0) -> Thread:
        t = Thread(name, vcpu, steps, start, self.core.entity(vcpu), period=period)
        self.threads[name] = self._by_entity[t.entity] = t
        self._at(start, t)
        return t

    def server(self, name: str, vcpu: int) -> Thread:
        """Creates a thread that works for other threads, in the order of their requests."""
        t = Thread(name, vcpu, iter(()), entity=self.core.entity(vcpu))
        self.threads[name] = self._by_entity[t.entity] = t
        return t

    def watch(self, vcpu: int) -> None:
        """Records each change of the queue of this Main VCPU from now on."""
        self.watched.append(vcpu)
        self.queues[vcpu] = []
        self._look()

    def _at(self, time: int, t: Thread) -> None:
        self._count += 1
        heapq.heappush(self._events, (max(time, self.now), self._count, t))

    def _look(self) -> None:
        for vcpu in self.watched:
            queue = self.core.queue(vcpu)
            seen = self.queues[vcpu]
            if not seen or seen[-1][1] != queue:
                seen.append((self.now, queue))

    def _advance(self, t: Thread) -> bool:
        """Begins the thread's next step. Returns True if the thread wants the CPU."""
        step = next(t.steps, None)
        if step is None:
            return False
        if isinstance(step, Compute):
            t.left = step.amount
            return step.amount != 0 or self._advance(t)
        if isinstance(step, Io):
            self._ask(self.threads[step.server], step, t)
        elif isinstance(step, Sleep):
            self._at(self.now + step.amount, t)
        elif isinstance(step, Until):
            self._at(step.time, t)
        else:
            self._at(self.now + step.length - (self.now - t.start) % step.length, t)
        return False

    def _ask(self, server: Thread, step: Io, t: Thread) -> None:
        idle = not server.jobs
        server.jobs.append((step.work, t, step.until))
        if idle:
            server.left = step.work
        self.core.ready(server.entity, self.now, t.period)

    def _done(self, t: Thread) -> None:
        """Handles the end of the running thread's computation."""
        if t.jobs:
            _, waiting, until = t.jobs.pop(0)
            if t.jobs:
                t.left = t.jobs[0][0]
            else:
                self.core.block(t.entity, self.now)
            self._at(until, waiting)
            return
        step = next(t.steps, None)
        if isinstance(step, Compute):
            t.left = step.amount
            return
        self.core.block(t.entity, self.now)
        if step is not None:
            t.steps = _before(step, t.steps)
            if self._advance(t):
                self.core.ready(t.entity, self.now)

    def _deliver(self) -> None:
        while self._events and self._events[0][0] <= self.now:
            t = heapq.heappop(self._events)[2]
            if self._advance(t):
                self.core.ready(t.entity, self.now)

    def run(self, end: int) -> None:
        while self.now < end:
            self._deliver()
            self._look()
            choice = self.core.decide(self.now)
            self._look()
            t = None if choice.entity is None else self._by_entity[choice.entity]
            event = self._events[0][0] if self._events else NEVER
            stop = min(max(choice.until, self.now + 1), event, end)
            if t and stop == choice.until and stop < end:
                stop = min(stop + self._late(), end)
            if t and t.left is not None:
                stop = min(stop, self.now + t.left)
            if t:
                self._record(Segment(self.now, stop, t.name, t.vcpu, choice.background))
                if t.left is not None:
                    t.left -= stop - self.now
            self.now = stop
            if t and t.left == 0:
                self._done(t)
        self.core.decide(self.now)
        self._look()

    def _record(self, s: Segment) -> None:
        last = self.segments[-1] if self.segments else None
        same = last and (last.thread, last.background) == (s.thread, s.background)
        if last and same and last.end == s.begin:
            self.segments[-1] = Segment(last.begin, s.end, s.thread, s.vcpu, s.background)
        else:
            self.segments.append(s)

    def of(self, name: str) -> list[tuple[int, int]]:
        """Returns the times when thread `name` ran."""
        return [(s.begin, s.end) for s in self.segments if s.thread == name]


def _before(step: Step, steps: Iterator[Step]) -> Iterator[Step]:
    yield step
    yield from steps


def use(segments: list[Segment], vcpu: int, begin: int, end: int, background: bool = False) -> int:
    """Returns how long a VCPU ran in [begin, end), either at its priority or in the background."""
    return sum(max(0, min(s.end, end) - max(s.begin, begin))
               for s in segments if s.vcpu == vcpu and s.background == background)
