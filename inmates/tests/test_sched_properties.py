# SPDX-License-Identifier: GPL-2.0-only
"""
The scheduler's promises hold over thousands of random sets of VCPUs (sched_runs.c). Mutation tests
show that each promise can fail: each mutant of the core names the property that detects it.
"""
import ctypes
import subprocess
from ctypes import POINTER, c_int, c_uint, c_uint32, c_uint64
from pathlib import Path

import core
import pytest

TOP = Path(__file__).resolve().parents[2]

RUNS = TOP / "inmates/tests/sched_runs.c"
SETS = 2000
IO_CASES = [(1, 10, 100), (1, 5, 50), (4, 100, 50), (1, 4, 16)]     # U as a fraction, T


class Runs:
    """The random runs, compiled with one version of the core."""

    def __init__(self, out: Path, sources: list[Path], headers: Path = core.SCHED):
        out.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["gcc", "-std=gnu11", "-O2", "-w", "-fPIC", "-shared", f"-I{headers}", "-o", str(out),
                        *map(str, sources), str(RUNS)], check=True)
        lib = ctypes.CDLL(str(out))
        self.run_set, self.run_overrun, self.run_io, self.run_churn = lib.run_set, lib.run_overrun, lib.run_io, lib.run_churn
        self.run_pieces, self.run_interrupts = lib.run_pieces, lib.run_interrupts
        self.run_pieces.argtypes, self.run_pieces.restype = [c_uint64], c_uint32
        self.run_interrupts.argtypes, self.run_interrupts.restype = [c_uint64], c_uint32
        self.run_set.argtypes, self.run_set.restype = [c_uint64, c_uint, c_uint], c_uint32
        self.run_overrun.argtypes, self.run_overrun.restype = [c_uint64], c_uint32
        self.run_churn.argtypes, self.run_churn.restype = [c_uint64, c_int], c_uint32
        self.run_io.argtypes = [c_uint64, c_uint64, c_uint64, c_uint64, c_int, POINTER(c_uint64)]
        self.run_io.restype = c_uint32

    def sets(self, count: int, late: int = 0, limit: int = core.QUEUE_MAX) -> set[str]:
        return broken(self.run_set(seed, late, limit) for seed in range(count))

    def overruns(self, count: int) -> set[str]:
        return broken(self.run_overrun(seed) for seed in range(count))

    def pieces(self, count: int) -> set[str]:
        return broken(self.run_pieces(seed) for seed in range(count))

    def interrupts(self, count: int) -> set[str]:
        return broken(self.run_interrupts(seed) for seed in range(count))

    def churn(self, count: int, test: int) -> set[str]:
        return broken(self.run_churn(seed, test) for seed in range(count))

    def io(self, count: int, preempted: bool) -> tuple[set[str], list[int]]:
        """Returns the broken properties, and for each case the largest use in a window."""
        bits, most = [], []
        for case in IO_CASES:
            found = []
            for seed in range(count):
                value = c_uint64()
                bits.append(self.run_io(seed, *case, preempted, value))
                found.append(value.value)
            most.append(max(found))
        return broken(bits), most


def broken(masks) -> set[str]:
    union = 0
    for mask in masks:
        union |= mask
    return {f"P{i}" for i in range(32) if union >> i & 1}


@pytest.fixture(scope="session")
def runs(tmp_path_factory) -> Runs:
    return Runs(tmp_path_factory.mktemp("runs") / "runs.so", sorted(core.SCHED.glob("*.c")))


@pytest.mark.parametrize("limit", [core.QUEUE_MAX, 4, 2])
def test_main_vcpus(runs, limit):
    """P1 to P4 and P6 hold. A full replenishment queue delays only the part for which it has no
    room."""
    assert runs.sets(SETS, limit=limit) == set()


def test_many_small_pieces_do_not_wait(runs):
    assert runs.pieces(SETS) == set()


@pytest.mark.parametrize("late", [1, 3, 100])
def test_main_vcpus_that_are_stopped_late(runs, late):
    assert runs.sets(SETS, late=late) == set()


def test_overruns_are_not_lost(runs):
    assert runs.overruns(SETS) == set()


def test_vcpus_that_come_go_and_change_take_nothing(runs):
    assert runs.churn(SETS, core.BOUND) == set()


def test_with_the_exact_test_they_take_next_to_nothing(runs):
    """A VCPU whose period changes may interfere more than with either period alone.
    quest-scheduling.md says that this breaks a property in ten to twenty of 20,000 sets."""
    assert sum(runs.run_churn(seed, core.EXACT) != 0 for seed in range(SETS)) <= SETS // 400


def test_io_vcpu_window(runs):
    """An I/O VCPU uses at most (2 - U) * U * T within T, and reaches this bound."""
    wrong, most = runs.io(400, preempted=False)
    assert wrong == set()
    assert most == [int((2 - b / a) * b / a * t) for b, a, t in IO_CASES]


def test_io_vcpu_in_the_long_run(runs):
    assert runs.io(400, preempted=True)[0] == set()


def test_what_an_interrupt_wakes_runs_after_its_handler(runs):
    assert runs.interrupts(SETS) == set()


# file, its text, the mutant's text, the property that must detect the mutant, the run
MUTANTS = {
    "no new phase on unblocking": ("sporadic.c", "	s->queue[0].at = now;\n", "", "P2", "sets"),
    "back a little too early": ("sporadic.c", "insert(s, head.at + s->period,", "insert(s, head.at + s->period - 1,", "P3", "sets"),
    "used part back a little too early": ("sporadic.c", "insert(s, at + s->period,", "insert(s, at + s->period - 1,", "P3", "sets"),
    "used part back at half time": ("sporadic.c", "insert(s, at + s->period,", "insert(s, at + s->period / 2,", "P4", "sets"),
    "used part never back": ("sporadic.c", "	insert(s, at + s->period, s->usage);\n", "", "P1", "sets"),
    "remnant kept whole": ("sporadic.c", "	s->queue[0].amount -= s->usage;\n", "", "P1", "sets"),
    "lost when full": ("sporadic.c", "	s->queue[cheapest + 1].amount += s->queue[cheapest].amount;\n", "", "P1", "short"),
    "full queue not noticed": ("sporadic.c", "s->length > s->limit", "s->length > SPORADIC_MAX", "P1", "short"),
    "when full, the rest comes late": ("sporadic.c", "for (i = 1; i + 1 < s->length; i++) {\n		cost", "for (i = 1; 0;) {\n		cost",
                                       "P10", "pieces"),
    "when full, the last takes all": ("sporadic.c", "!cheapest || cost < least", "true", "P10", "pieces"),
    "merged too early": ("sporadic.c", "<= now + sporadic_left(s)", "<= now + s->period", "P2", "sets"),
    "out of order": ("sporadic.c", "s->queue[i - 1].at > at", "s->queue[i - 1].at < at", "P1", "sets"),
    "overrun not put off": ("sporadic.c", "	s->queue[0].at += overrun;\n", "", "P5", "overruns"),
    "a second piece is nothing": ("sporadic.c", "bool early = s->queue[0].at + delta > now;", "bool early = now > UINT64_MAX - 1;",
                                  "P5", "overruns"),
    "overrun forgiven": ("sporadic.c", "	if (s->usage)\n		postpone_head", "	s->usage = 0;\n	if (s->usage)\n		postpone_head", "P3", "late"),
    "rounds for nothing": ("sporadic.c", "s->queue[i].at += rounds * s->period", "s->queue[i].at += rounds", "P3", "very late"),
    "one merge is enough": ("sporadic.c", "while (s->length > 1 && s->queue[0].at + s->queue[0].amount",
                            "if (s->length > 1 && s->queue[0].at + s->queue[0].amount", "P1", "overruns"),
    "blind for higher VCPUs": ("sched.c", "readytree_before(&s->ready, vcpu_key(v, id)))", "SCHED_NEVER)", "P6", "sets"),
    "priority upside down": ("server.c", "return vcpu_period(v) << 9", "return (1ull << 40) - vcpu_period(v) << 9", "P6", "sets"),
    "background charged": ("sched.c", "	if (s->in_background)\n		s->vcpus", "	if (0)\n		s->vcpus", "P6", "sets"),
    "budget without end": ("sched.c", "min(now + server_of(v)->left(v),", "(", "P3", "sets"),
    "tree not kept up": ("sched.c", "		readytree_set(&s->ready, id, server_of(v)->eligible(v));\n}", "		;\n}", "P3", "sets"),
    "other parameters forget": ("create.c", "	past_remember(v, now);\n	at = later(", "	at = later(", "P9", "churn"),
    "the dead are forgotten": ("create.c", "	past_remember(v, now);\n	v->state", "	v->state", "P9", "churn"),
    "what its owner has used does not count": ("admit.c", "else if (r->delaying_end > r->rejecting_end)", "else if (0)", "P9", "churn"),
    "what others have used does not count": ("admit.c", "r->rejecting_end > r->existing_end && !fits_with_past(s, r->rejecting_end)", "0", "P9", "churn"),
    "I/O: a handler is no dispatch": ("sched.c", "	server_of(v)->dispatch(v, s->charged);\n", "", "P11", "interrupts"),
    "I/O: a handler costs nothing": ("sched.c", "	charge_budget(s, id, now - s->charged, now);\n	if (!active)", "	v->counts.used += now - s->charged;\n	if (!active)",
                                     "P8", "interrupts"),
    "I/O: admitted as if they took nothing": ("admission.c", "			sum += io_worst(set, n, i, &set[j], t);", "			sum += 0;", "P6", "sets"),
    "I/O: takes from those that stay": ("admission.c", "			sum += io_worst(set, n, i, &set[j], t);", "			sum += 0;", "P9", "churn"),
    "I/O: the past is banked": ("pibs.c", "p->eligible = now;", "(void)now;", "P7", "io"),
    "I/O: eligible too soon": ("pibs.c", "(unsigned __int128)p->used * p->period", "(unsigned __int128)p->used * p->budget", "P7", "io"),
    "I/O: nothing taken": ("pibs.c", "		p->left -= delta;", "		;", "P8", "io"),
}


def test_each_property_has_a_mutant():
    assert {property_ for *_, property_, _ in MUTANTS.values()} == {f"P{i}" for i in range(1, 12)}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_noticed(name, tmp_path):
    file, old, new, property_, run = MUTANTS[name]
    text = (core.SCHED / file).read_text()
    assert text.count(old) == (2 if name == "I/O: the past is banked" else 1), "the mutant does not fit the source any more"
    (tmp_path / file).write_text(text.replace(old, new))
    mutant = Runs(tmp_path / "mutant.so",
                  [tmp_path / file, *(f for f in core.SCHED.glob("*.c") if f.name != file)])
    found = {
        "sets": lambda: mutant.sets(400),
        "short": lambda: mutant.sets(400, limit=2),
        "late": lambda: mutant.sets(400, late=3),
        "very late": lambda: mutant.sets(400, late=100),
        "interrupts": lambda: mutant.interrupts(400),
        "pieces": lambda: mutant.pieces(400),
        "overruns": lambda: mutant.overruns(400),
        "churn": lambda: mutant.churn(400, core.EXACT),
        "io": lambda: mutant.io(100, preempted=False)[0],
    }[run]()
    assert property_ in found, f"only {found or 'nothing'} was noticed"
