# SPDX-License-Identifier: GPL-2.0-only
"""The application as the kernel needs it: numbers, levels and masks instead of OIL's words."""

from __future__ import annotations

from dataclasses import dataclass, field

from .problems import Place

# Limits of the kernel (inmates/erika/include/erika/conf.h)
TASK_LEVELS = 64
ISR_LEVELS = 128  # the level of an ISR is this + its interrupt class
MOST_MODES = 32
MOST_EVENTS = 64
LOWEST_CLASS, HIGHEST_CLASS = 2, 14
TIMER_CLASS = 13
BELL_CLASS = 2  # of the vectors that QV gives to the bells of channels
PIN_CLASS = 4
MOST_PINS = 8  # QV_INFO_MAX_DEVICES
DEFAULT_STACK = 8192
DEFAULT_TICK_NS = 1_000_000
MOST_ACTIVATIONS = 65535  # of all tasks of a priority: struct os_ring
# A guard page needs a table of its 2 MiB, and the kernel has 16 of them (port/guard.c): 16 stacks,
# or all stacks, their guard pages, code and data in 32 MiB
PAGE = 4096
MOST_GUARDED, MOST_STACK = 16, 24 << 20


@dataclass
class Action:
    """The effect of an alarm, an expiry point or a message. `kind` ends the name of an os_act_*."""

    kind: str
    target: str = ""
    event: str = ""
    callback: str = ""


@dataclass
class Task:
    name: str
    priority: int
    preemptable: bool
    activations: int
    modes: list[str]
    events: list[str]
    resources: list[str]
    stack: int
    level: int = 0
    run_level: int = 0

    @property
    def extended(self) -> bool:
        return bool(self.events)


@dataclass
class Source:
    """The device that requests an interrupt. `kind` ends the name of an OS_SOURCE_*."""

    kind: str
    line: int = 0
    vendor: int = 0
    device: int = 0
    channel: str = ""


@dataclass
class Isr:
    name: str
    category: int
    handler: str
    vector: int
    interrupt_class: int
    after: bool
    resources: list[str]
    source: Source | None = None
    action: Action | None = None  # of a generated handler

    @property
    def level(self) -> int:
        return ISR_LEVELS + self.interrupt_class


@dataclass
class Resource:
    name: str
    ceiling: int


@dataclass
class Counter:
    """`tick_ns` is 0 for a software counter."""

    name: str
    most: int
    base: int
    least_cycle: int
    tick_ns: int


@dataclass
class Alarm:
    name: str
    counter: str
    action: Action
    modes: list[str] = field(default_factory=list)
    start: str = "NONE"
    time: int = 0
    cycle: int = 0


@dataclass
class Point:
    """An expiry point."""

    offset: int
    actions: list[Action]
    advance: int = 0
    retard: int = 0


@dataclass
class Table:
    """A schedule table."""

    name: str
    counter: str
    length: int
    periodic: bool
    sync: str
    precision: int
    points: list[Point]
    modes: list[str]
    start: str
    time: int


@dataclass
class Filter:
    kind: str = "ALWAYS"
    numbers: dict[str, int] = field(default_factory=dict)


@dataclass
class Message:
    """`kind` is SEND, UNQUEUED or QUEUED. `ctype` is empty for a message without data; `place` is
    its CDATATYPE. `signed` is None for a type that the compiler does not know, and `bits` 0."""

    name: str
    kind: str
    ctype: str
    signed: bool | None = None
    bits: int = 0
    receivers: list[str] = field(default_factory=list)
    length: int = 0
    initial: int = 0
    filter: Filter = field(default_factory=Filter)
    notify: Action | None = None
    place: Place | None = None


@dataclass(frozen=True)
class Function:
    """A function that the application writes. `word` is the macro that begins it, such as TASK;
    empty for a hook. `owner` asks for it in the OIL file, at `place`."""

    word: str
    name: str
    owner: str
    place: Place

    def written(self) -> str:
        """Returns it as the application writes it."""
        return f"{self.word}({self.name})" if self.word else f"{self.name}()"


@dataclass
class Hooks:
    """The names of the hooks that are on, by their field in struct os_hooks."""

    names: dict[str, str] = field(default_factory=dict)
    com_error: bool = False
    com_start: bool = False


@dataclass
class Application:
    """All that is generated comes from here. Lists are in the order of their identifiers."""

    cpu: str
    conformance: str
    extended_status: bool
    hooks: Hooks
    modes: list[str]
    tasks: list[Task]
    isrs: list[Isr]
    resources: list[Resource]
    linked: dict[str, str]
    internal: dict[str, list[str]]
    events: dict[str, int]
    counters: list[Counter]
    alarms: list[Alarm]
    tables: list[Table]
    messages: list[Message]
    com_modes: list[str]
    com_extended: bool
    timer_class: int
    isr_stack: int
    sources: list[str]
    cflags: list[str]
    headers: list[tuple[str, Place]]
    trace: int = 0  # records; 0: no trace
    console: bool = False
    latency: bool = False
    floats: bool = False
    functions: list[Function] = field(default_factory=list)

    @property
    def late(self) -> list[Alarm]:
        """Returns the alarms whose lateness is measured: those on the system timer."""
        timed = {counter.name for counter in self.counters if counter.tick_ns}
        return [alarm for alarm in self.alarms if self.latency and alarm.counter in timed]

    @property
    def late_tasks(self) -> set[str]:
        """Returns the names of the tasks that these alarms activate."""
        return {alarm.action.target for alarm in self.late if alarm.action.kind == "activate"}

    @property
    def top_level(self) -> int:
        return max((task.level for task in self.tasks), default=0)

    @property
    def isr2_level(self) -> int:
        """Returns the highest level of an ISR of category 2, of the system timer and of the
        console's ISR."""
        levels = [isr.level for isr in self.isrs if isr.category == 2]
        timed = any(counter.tick_ns for counter in self.counters)
        if timed:
            levels.append(ISR_LEVELS + self.timer_class)
        if self.console:  # its class is chosen as in os_start_shell()
            beside = timed and self.timer_class == LOWEST_CLASS
            levels.append(ISR_LEVELS + LOWEST_CLASS + beside)
        return max(levels, default=self.top_level)

    @property
    def queued(self) -> bool:
        """Several activations of a task, or several tasks of a level (BCC2, ECC2)."""
        levels = [task.level for task in self.tasks]
        return any(task.activations > 1 for task in self.tasks) or len(set(levels)) < len(levels)
