# SPDX-License-Identifier: GPL-2.0-only
"""Quest's scheduler core (inmates/quest/sched, compiled for the host) as a Python class."""
from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Sequence
from ctypes import POINTER, c_char_p, c_int, c_int64, c_uint, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHED = HERE.parent / "sched"
TOP = HERE.parents[2]
NEVER = (1 << 64) - 1
QUEUE_MAX = 32
MAIN, IO, BACKGROUND = range(3)
BOUND, EXACT = range(2)
FLAGS = ["-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]

_u64s = POINTER(c_uint64)
_PROTOTYPES = {
    "sim_new": (c_void_p, [c_uint64, c_int, c_int, c_uint64]),
    "sim_free": (None, [c_void_p]),
    "sim_create": (c_int, [c_void_p, c_char_p, c_int, c_uint64, c_uint64, c_uint64]),
    "sim_destroy": (c_int, [c_void_p, c_int, c_uint64]),
    "sim_set": (c_int, [c_void_p, c_int, c_uint64, c_uint64, c_uint64]),
    "sim_limit": (c_int, [c_void_p, c_int, c_uint]),
    "sim_entity": (c_int, [c_void_p]),
    "sim_bind": (c_int, [c_void_p, c_int, c_int, c_uint64]),
    "sim_unbind": (None, [c_void_p, c_int, c_uint64]),
    "sim_ready": (None, [c_void_p, c_int, c_uint64, c_uint64]),
    "sim_block": (None, [c_void_p, c_int, c_uint64]),
    "sim_interrupt": (None, [c_void_p, c_int, c_uint64, c_uint64]),
    "sim_decide": (c_int, [c_void_p, c_uint64, _u64s]),
    "sim_background": (c_int, [c_void_p]),
    "sim_queue": (c_int, [c_void_p, c_int, _u64s, _u64s]),
    "sim_io": (None, [c_void_p, c_int, _u64s]),
    "sim_counts": (None, [c_void_p, c_int, _u64s]),
    "sim_shift": (None, [c_void_p, c_int, c_int64]),
    "sim_idle": (c_uint64, [c_void_p]),
    "sim_admission": (None, [_u64s, c_uint, _u64s]),
    "sim_with_past": (c_int, [c_int, _u64s, c_uint, c_uint]),
    "sim_response": (c_uint64, [_u64s, c_uint, c_uint]),
    "sched_error_text": (c_char_p, [c_int]),
}


class Refused(Exception):
    """The core rejected a call. The text is the core's error message."""

    def __init__(self, code: int, text: str):
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class Choice:
    entity: int | None
    until: int
    background: bool


@dataclass(frozen=True)
class Counts:
    used: int
    background: int
    depleted: int
    overruns: int
    overrun_max: int


def build_dir() -> Path:
    return Path(os.environ.get("O", TOP / "build"))


def compile_library(out: Path, sources: Sequence[Path] | None = None) -> Path:
    """Compiles the core (or `sources` in place of sched/) into a shared library."""
    out.parent.mkdir(parents=True, exist_ok=True)
    files = [*(sorted(SCHED.glob("*.c")) if sources is None else sources), HERE / "shim.c"]
    part = out.with_suffix(f".{os.getpid()}")
    subprocess.run([os.environ.get("CC", "gcc"), *FLAGS, f"-I{SCHED}", "-o", str(part), *map(str, files)], check=True)
    part.replace(out)
    return out


def load(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_default: list[ctypes.CDLL] = []


def library() -> ctypes.CDLL:
    """Returns the core of this tree. Compiles it again if a source is newer than the library."""
    if not _default:
        path = build_dir() / "inmates/sim/libsched.so"
        newest = max(f.stat().st_mtime for f in (*SCHED.glob("*.[ch]"), HERE / "shim.c"))
        if not path.exists() or path.stat().st_mtime <= newest:
            compile_library(path)
        _default.append(load(path))
    return _default[0]


class Core:
    """The scheduler of one CPU. Times are whole numbers of any unit."""

    def __init__(self, quantum: int = 10, background: bool = True, admission: int | None = BOUND,
                 now: int = 0, lib: ctypes.CDLL | None = None):
        self.lib = lib or library()
        test = BOUND if admission is None else admission
        self.sim = self.lib.sim_new(quantum, background, test, now)
        self._until = c_uint64()
        self._pairs = (c_uint64 * (2 * QUEUE_MAX))()
        self._values = (c_uint64 * 5)()

    def __del__(self) -> None:
        if getattr(self, "sim", None):
            self.lib.sim_free(self.sim)

    def _checked(self, result: int) -> int:
        if result < 0:
            raise Refused(result, self.lib.sched_error_text(result).decode())
        return result

    def create(self, budget: int, period: int, kind: int = MAIN, name: str = "",
               now: int = 0) -> int:
        vcpu = self.lib.sim_create(self.sim, name.encode(), kind, budget, period, now)
        return self._checked(vcpu)

    def destroy(self, vcpu: int, now: int) -> None:
        self._checked(self.lib.sim_destroy(self.sim, vcpu, now))

    def set(self, vcpu: int, budget: int, period: int, now: int) -> None:
        self._checked(self.lib.sim_set(self.sim, vcpu, budget, period, now))

    def limit(self, vcpu: int, length: int) -> None:
        self._checked(self.lib.sim_limit(self.sim, vcpu, length))

    def entity(self, vcpu: int, now: int = 0) -> int:
        entity = self._checked(self.lib.sim_entity(self.sim))
        self.bind(entity, vcpu, now)
        return entity

    def bind(self, entity: int, vcpu: int, now: int) -> None:
        self._checked(self.lib.sim_bind(self.sim, entity, vcpu, now))

    def unbind(self, entity: int, now: int) -> None:
        self.lib.sim_unbind(self.sim, entity, now)

    def ready(self, entity: int, now: int, period: int = 0) -> None:
        self.lib.sim_ready(self.sim, entity, period, now)

    def block(self, entity: int, now: int) -> None:
        self.lib.sim_block(self.sim, entity, now)

    def interrupt(self, vcpu: int, since: int, now: int) -> None:
        """Charges VCPU `vcpu` for an interrupt handler that has run since `since`."""
        self.lib.sim_interrupt(self.sim, vcpu, since, now)

    def decide(self, now: int) -> Choice:
        entity = self.lib.sim_decide(self.sim, now, self._until)
        return Choice(None if entity < 0 else entity, self._until.value,
                      bool(self.lib.sim_background(self.sim)))

    def queue(self, vcpu: int) -> list[tuple[int, int]]:
        n = self.lib.sim_queue(self.sim, vcpu, self._pairs, self._until)
        return [(self._pairs[2 * i], self._pairs[2 * i + 1]) for i in range(n)]

    def usage(self, vcpu: int) -> int:
        self.lib.sim_queue(self.sim, vcpu, self._pairs, self._until)
        return self._until.value

    def io(self, vcpu: int) -> tuple[int, int, int, int]:
        """Returns the tuple (inherited, eligible, left, used)."""
        self.lib.sim_io(self.sim, vcpu, self._values)
        return tuple(self._values[:4])

    def counts(self, vcpu: int) -> Counts:
        self.lib.sim_counts(self.sim, vcpu, self._values)
        return Counts(*self._values)

    def shift(self, vcpu: int, by: int) -> None:
        self.lib.sim_shift(self.sim, vcpu, by)

    @property
    def idle(self) -> int:
        return self.lib.sim_idle(self.sim)


def _entries(vcpus: Sequence[tuple[int, int, bool]]):
    flat = [x for budget, period, io in vcpus for x in (int(io), budget, period)]
    return (c_uint64 * len(flat))(*flat)


def admission(vcpus: Sequence[tuple[int, int, bool]]) -> tuple[int, int, bool, bool]:
    """Returns load, limit, and whether the bound and the exact test admit the VCPUs. A VCPU is the
    tuple (budget, period, io)."""
    answers = (c_uint64 * 4)()
    library().sim_admission(_entries(vcpus), len(vcpus), answers)
    return answers[0], answers[1], bool(answers[2]), bool(answers[3])


def with_past(vcpus: Sequence[tuple[int, int, bool]], existing: int, test: int = BOUND) -> bool:
    """Returns whether the first `existing` entries get their budgets if the others are past use."""
    return bool(library().sim_with_past(test == EXACT, _entries(vcpus), existing, len(vcpus)))


def response(vcpus: Sequence[tuple[int, int, bool]], i: int) -> int | None:
    answer = library().sim_response(_entries(vcpus), len(vcpus), i)
    return None if answer == NEVER else answer
