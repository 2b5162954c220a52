# SPDX-License-Identifier: GPL-2.0-only
"""On random sequences of calls, the C core and its reference model make the same decisions and have
the same state."""
from pathlib import Path

import core
import pytest
import sched_model as model
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

TOP = Path(__file__).resolve().parents[2]

# equal periods must occur often
periods = st.one_of(st.sampled_from([20, 40, 100]), st.integers(2, 200))
vcpus = st.lists(st.tuples(st.sampled_from([core.MAIN, core.MAIN, core.MAIN, core.IO, core.IO, core.BACKGROUND]), st.integers(1, 30), periods),
                 min_size=1, max_size=8)
limits = st.sampled_from([core.QUEUE_MAX, 4, 3, 2])
calls = st.lists(st.tuples(
    st.sampled_from(["decide"] * 6 + ["until"] * 6 + ["ready"] * 4 + ["block"] * 3 + ["yield"] * 3 + ["interrupt"] * 2 + ["bind", "set"]),
    st.integers(0, 30), st.integers(0, 400), periods), min_size=1, max_size=150)


class Both:
    """Makes every call to the core and to the model. Any difference is an error."""

    def __init__(self, quantum: int, background: bool, limit: int, lib=None):
        self.core = core.Core(quantum, background, core.EXACT, lib=lib)
        self.model = model.Model(quantum, background)
        self.limit = limit
        self.now = 0
        self.until = core.NEVER
        self.entities: list[int] = []

    def create(self, kind: int, budget: int, period: int) -> None:
        if kind == core.BACKGROUND:
            budget = period = 0
        try:
            vcpu = self.core.create(min(budget, period - 1), period, kind) if period else self.core.create(0, 0, kind)
        except core.Refused:
            return
        if kind == core.MAIN:
            self.core.limit(vcpu, self.limit)
        self.model.create(vcpu, kind, min(budget, period - 1), period, 0, self.limit)
        for _ in range(2):
            self.entities.append(self.core.entity(vcpu))
            assert self.model.entity(vcpu) == self.entities[-1]

    def step(self, call: str, delta: int, a: int, b: int) -> None:
        if call == "until" and self.until < self.now + 1000:
            self.now = max(self.now, self.until)
        else:
            self.now += delta
        entity = self.entities[a % len(self.entities)]
        vcpu = sorted(self.model.vcpus)[b % len(self.model.vcpus)]
        if call == "ready":
            self.core.ready(entity, self.now, b)
            self.model.ready(entity, b, self.now)
        elif call == "block" or (call == "yield" and self.model.current is not None):
            entity = self.model.current if call == "yield" else entity
            self.core.block(entity, self.now)
            self.model.block(entity, self.now)
        elif call == "bind":
            self.core.bind(entity, vcpu, self.now)
            self.model.bind(entity, vcpu, self.now)
        elif call == "interrupt":
            since, self.now = self.now, self.now + a % 20
            self.core.interrupt(vcpu, since, self.now)
            self.model.interrupt(vcpu, since, self.now)
        elif call == "set":
            self._set(vcpu, 1 + a % 30, 2 + a)
        choice = self.core.decide(self.now)
        assert (choice.entity, choice.until, choice.background) == self.model.decide(self.now)
        self.until = choice.until
        self.compare()

    def _set(self, vcpu: int, budget: int, period: int) -> None:
        budget = min(budget, period - 1)
        if self.model.vcpus[vcpu].kind == core.BACKGROUND:
            return
        try:
            self.core.set(vcpu, budget, period, self.now)
        except core.Refused:
            return
        main = self.model.vcpus[vcpu].kind == core.MAIN
        at = self.core.queue(vcpu)[0][0] if main else self.core.io(vcpu)[1]
        self.model.set(vcpu, budget, period, self.now, at)

    def compare(self) -> None:
        assert self.core.idle == self.model.idle
        for i, v in self.model.vcpus.items():
            assert self.core.counts(i) == core.Counts(v.used, v.background, v.depleted, v.overruns, v.overrun_max)
            if v.kind == core.MAIN:
                assert self.core.queue(i) == [tuple(chunk) for chunk in v.server.queue]
                assert self.core.usage(i) == v.server.usage
            elif v.kind == core.IO:
                assert self.core.io(i) == (v.server.T, v.server.e, v.server.b, v.server.u)


def trace(quantum, background, limit, vcpus, calls, lib=None):
    both = Both(quantum, background, limit, lib)
    for vcpu in vcpus:
        both.create(*vcpu)
    if both.entities:
        for call in calls:
            both.step(*call)


@settings(max_examples=600, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(1, 20), st.booleans(), limits, vcpus, calls)
def test_core_and_model_agree(quantum, background, limit, vcpus, calls):
    trace(quantum, background, limit, vcpus, calls)


MUTANTS = {
    "anchored at the wake-up": ("pibs.c", "	p->eligible = now;\n	p->left = capacity(p);", "	p->left = capacity(p);"),
    "inherits the longer period": ("pibs.c", "period >= p->inherited", "period <= p->inherited"),
    "keeps the larger budget": ("pibs.c", "		shrink(p);", "		(void)shrink;"),
    "rounds t_e down": ("pibs.c", " + p->budget - 1) / p->budget", ") / p->budget"),
    "a handler is no dispatch": ("sched.c", "	server_of(v)->dispatch(v, s->charged);\n", ""),
    "no new phase on unblocking": ("sporadic.c", "	s->queue[0].at = now;\n", ""),
    "turns never end": ("sched.c", "	append(&v->queue, e);\n	if", "	if (v->queue.head) { e->next = v->queue.head; "
                        "v->queue.head->prev = e; v->queue.head = e; } else append(&v->queue, e);\n	if"),
    "one in the background for ever": ("sched.c", "		s->ring = v->ring_next;\n}", "		s->ring = s->ring;\n}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_noticed(name, tmp_path):
    file, old, new = MUTANTS[name]
    text = (core.SCHED / file).read_text()
    assert text.count(old) == 1, "the mutant does not fit the source any more"
    (tmp_path / file).write_text(text.replace(old, new))
    lib = core.load(core.compile_library(
        tmp_path / "mutant.so", [tmp_path / file, *(f for f in core.SCHED.glob("*.c") if f.name != file)]))

    @settings(max_examples=5000, deadline=None, derandomize=True, database=None, report_multiple_bugs=False,
              phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.integers(1, 20), st.booleans(), limits, vcpus, calls)
    def differs(quantum, background, limit, vcpus, calls):
        trace(quantum, background, limit, vcpus, calls, lib)

    with pytest.raises(AssertionError):
        differs()
