# SPDX-License-Identifier: GPL-2.0-only
"""Repeats what the kernel did, and checks the rules: of states, priorities, events, resources and
interrupts. After lost records nothing is known, so nothing is checked until it is known again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .objects import Objects, Task
from .read import Log, Record

SUSPENDED, READY, WAITING, RUNNING = "suspended", "ready", "waiting", "running"


@dataclass
class Span:
    """A time in which a task is in a state, an ISR runs, or a resource is taken."""

    row: str
    what: str
    begin: int
    end: int


@dataclass
class Mark:
    """Something that happened to a task, or to no task if `row` is empty."""

    row: str
    what: str
    time: int


@dataclass
class State:
    """Of a task. `name` is empty while unknown; `held` is None while unknown."""

    name: str = ""
    since: int = 0
    pending: int | None = None  # activations
    awaited: int = 0
    begun: bool = False  # it has run since its activation
    held: list[int] | None = None


@dataclass
class Frame:
    """An ISR that has begun."""

    number: int
    since: int
    held: list[int] = field(default_factory=list)


@dataclass
class Broken:
    """A rule that a record breaks."""

    record: Record
    sentence: str


class Replay:
    def __init__(self, log: Log, objects: Objects) -> None:
        self.log, self.objects = log, objects
        self.broken: list[Broken] = []
        self.spans: list[Span] = []
        self.marks: list[Mark] = []
        self.tasks = [State() for _ in objects.tasks]
        self.frames: list[Frame] = []
        self.frames_known = False
        self.taken: dict[int, int] = {}  # resource: since
        self.record = Record(0, log.first, "LOST", 0, 0)

    # --- helpers ---

    def wrong(self, sentence: str) -> None:
        self.broken.append(Broken(self.record, sentence))

    def mark(self, row: str, what: str) -> None:
        self.marks.append(Mark(row, what, self.record.time))

    def known(self) -> Task:
        return self.objects.task(self.record.id)

    def become(self, number: int, name: str) -> None:
        """Changes the state of a task; the old state becomes a span."""
        state = self.tasks[number]
        if state.name not in ("", SUSPENDED):
            row = self.objects.task(number).name
            self.spans.append(Span(row, state.name, state.since, self.record.time))
        state.name, state.since = name, self.record.time

    def level(self, number: int) -> int:
        """The least level that a ready or running task may have: its own, or the highest ceiling of
        the resources that it holds."""
        held = self.tasks[number].held or []
        return max(
            [self.objects.task(number).level]
            + [self.objects.resource(resource).level for resource in held]
        )

    def holder(self) -> list[int] | None:
        """The resources of the code that runs now; None: unknown."""
        if self.frames:
            return self.frames[-1].held
        running = self.running()
        return self.tasks[running].held if running is not None else None

    def running(self) -> int | None:
        return next((n for n, state in enumerate(self.tasks) if state.name == RUNNING), None)

    def in_task(self, what: str) -> State:
        """The running task of a record. It must run, and hold no resource if `what` is given."""
        task, state = self.known(), self.tasks[self.record.id]
        if state.name not in ("", RUNNING):
            self.wrong(f"{task.name} is {state.name}, not running")
        if what and state.held:
            names = ", ".join(self.objects.resource(held).name for held in state.held)
            self.wrong(f"{task.name} {what} with the resource {names}")
        return state

    # --- records ---

    def lost(self) -> None:
        for number, state in enumerate(self.tasks):
            self.become(number, "")
            state.pending, state.held = None, None
        for frame in self.frames:
            self.leave_frame(frame)
        self.frames, self.frames_known = [], False
        self.taken.clear()
        self.mark("", f"{self.record.value} records lost")

    def start(self) -> None:
        for state in self.tasks:
            state.name, state.pending, state.held = SUSPENDED, 0, []
        self.frames_known = True
        self.mark("", "StartOS")

    def stop(self) -> None:
        self.mark("", f"ShutdownOS({self.record.value})")

    def activate(self) -> None:
        task, state = self.known(), self.tasks[self.record.id]
        if state.pending is not None:
            state.pending += 1
            if state.pending > task.activations:
                self.wrong(f"{task.name} has {state.pending} activations of {task.activations}")
        if state.name in ("", SUSPENDED):
            if state.name == SUSPENDED:
                state.held, state.begun = [], False
            self.become(self.record.id, READY)
        self.mark(task.name, "activated")

    def run(self) -> None:
        task, state = self.known(), self.tasks[self.record.id]
        if state.name not in ("", READY):
            self.wrong(f"{task.name} is {state.name} and runs, but only a ready task may")
        running = self.running()
        if running is not None and running != self.record.id:
            self.wrong(f"{task.name} runs while {self.objects.task(running).name} runs")
        if self.frames:
            name = self.objects.isr(self.frames[-1].number).name
            self.wrong(f"{task.name} runs before the ISR {name} has ended")
        self.check_urgent(task.name, self.level(self.record.id))
        state.begun = True
        self.become(self.record.id, RUNNING)

    def check_urgent(self, name: str, level: int) -> None:
        for number, other in enumerate(self.tasks):
            if other.name == READY and number != self.record.id and self.level(number) > level:
                task = self.objects.task(number)
                self.wrong(f"{name} runs while {task.name}, which is more urgent, is ready")

    def preempt(self) -> None:
        self.in_task("")
        self.become(self.record.id, READY)

    def wait(self) -> None:
        self.in_task("waits").awaited = self.record.value
        self.become(self.record.id, WAITING)

    def end(self) -> None:
        state = self.in_task("ends")
        if state.pending is not None:
            state.pending -= 1
        state.held, state.begun = [], False
        again = state.pending is not None and state.pending > 0
        self.become(self.record.id, READY if again else SUSPENDED if state.pending == 0 else "")

    def idle(self) -> None:
        for number, state in enumerate(self.tasks):
            if state.name == READY:
                self.wrong(f"the CPU is idle while {self.objects.task(number).name} is ready")

    def set(self) -> None:
        task, state = self.known(), self.tasks[self.record.id]
        names = self.objects.event_names(self.record.value)
        if state.name == SUSPENDED:
            self.wrong(f"the event {names} is set for {task.name}, which is suspended")
        self.mark(task.name, f"set {names}")

    def clear(self) -> None:
        self.in_task("")
        self.mark(self.known().name, f"clear {self.objects.event_names(self.record.value)}")

    def ready(self) -> None:
        if self.tasks[self.record.id].name not in ("", WAITING):
            self.wrong(f"{self.known().name} becomes ready and did not wait")
        self.become(self.record.id, READY)

    def take(self) -> None:
        resource, held = self.objects.resource(self.record.id), self.holder()
        if self.record.id in self.taken:
            self.wrong(f"the resource {resource.name} is taken twice")
        self.taken[self.record.id] = self.record.time
        if held is not None:
            held.append(self.record.id)

    def give(self) -> None:
        resource, held = self.objects.resource(self.record.id), self.holder()
        if held and held[-1] == self.record.id:
            held.pop()
        elif held is not None and (held or self.frames_known):
            last = self.objects.resource(held[-1]).name if held else "none"
            self.wrong(
                f"the resource {resource.name} is released, but the last one taken is {last}"
            )
            if self.record.id in held:
                held.remove(self.record.id)
        since = self.taken.pop(self.record.id, None)
        if since is not None:
            self.spans.append(Span(f"resource {resource.name}", "taken", since, self.record.time))

    def enter(self) -> None:
        isr = self.objects.isr(self.record.id)
        if self.frames and self.objects.isr(self.frames[-1].number).level >= isr.level:
            other = self.objects.isr(self.frames[-1].number).name
            self.wrong(f"the ISR {isr.name} interrupts {other}, whose class is not lower")
        for held in self.taken:
            if self.objects.resource(held).level >= isr.level:
                name = self.objects.resource(held).name
                self.wrong(f"the ISR {isr.name} comes while {name} is taken, which blocks it")
        self.frames.append(Frame(self.record.id, self.record.time))

    def leave(self) -> None:
        isr = self.objects.isr(self.record.id)
        if not self.frames:
            if self.frames_known:
                self.wrong(f"the ISR {isr.name} ends and did not begin")
            return
        frame = self.frames.pop()
        if frame.number != self.record.id:
            other = self.objects.isr(frame.number).name
            self.wrong(f"the ISR {isr.name} ends before {other}, which interrupted it")
        if frame.held:
            self.wrong(f"the ISR {isr.name} ends with a resource")
        self.leave_frame(frame)

    def leave_frame(self, frame: Frame) -> None:
        name = self.objects.isr(frame.number).name
        self.spans.append(Span(f"ISR {name}", "runs", frame.since, self.record.time))

    def alarm(self) -> None:
        number = self.record.id
        known = number < len(self.objects.alarms)
        self.mark("", f"alarm {self.objects.alarms[number] if known else number}")

    def point(self) -> None:
        number = self.record.id
        known = number < len(self.objects.tables)
        name = self.objects.tables[number] if known else str(number)
        self.mark("", f"{name} point {self.record.value}")

    def error(self) -> None:
        self.mark("", f"error {self.record.value} in service {self.record.id}")

    def all(self) -> None:
        last = self.log.first
        actions: dict[str, Callable[[], None]] = {
            kind: getattr(self, kind.lower()) for kind in self.objects.kinds
        }
        for record in self.log.records:
            self.record = record
            if record.time < last:
                self.wrong("the clock goes back")
            last = record.time
            actions[record.kind]()
        for number in range(len(self.tasks)):
            self.become(number, "")
        for frame in self.frames:
            self.leave_frame(frame)
        for resource, since in self.taken.items():
            name = self.objects.resource(resource).name
            self.spans.append(Span(f"resource {name}", "taken", since, self.record.time))


def replay(log: Log, objects: Objects) -> Replay:
    """Raises WrongMap if the trace has objects that the map lacks."""
    result = Replay(log, objects)
    result.all()
    return result
