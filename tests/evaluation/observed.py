# SPDX-License-Identifier: GPL-2.0-only
"""Evaluates a run of moving.py: the budgets of other VCPUs, and the bounds of a move. Times are
in ns, except those whose names end in _us or _ms."""

import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))

from moving import MS, PERIOD_MS, Setup  # noqa: E402
from qv import admission, analyze  # noqa: E402
from qv.admission import Vcpu  # noqa: E402

S = 1000 * MS
SETTLED = 2 * S  # from the begin of the program on, all other programs use their budgets
LEAST = 0.9  # of a budget: a period with less counts as lost
HEADER = 32  # bytes of a message besides the program
PAGE = 4096 + 24  # bytes of a page in the messages
POLL = MS // 2  # the destination polls with MIG_STRICT
C, T = 20 * MS, 100 * MS  # of the program, and of sieve C / 2


@dataclass
class Budget:
    """The budgets of a VCPU while programs moved."""

    cell: str
    vcpu: str
    periods: int
    c_ms: float
    least_ms: float
    lost: int


def program(one: dict[str, Any], name: str = "edges") -> dict[str, Any]:
    found: dict[str, Any] = next(p for p in one["programs"] if p["program"] == name)
    return found


def _whole(used: dict[str, Any], begin: int, end: int) -> list[int]:
    """Returns the CPU times in us of the periods between two TSCs."""
    length = PERIOD_MS * MS
    return [
        us
        for i, us in enumerate(used["us"])
        if used["begin"] + i * length >= begin and used["begin"] + (i + 1) * length <= end
    ]


def budgets(s: Setup, one: dict[str, Any]) -> list[Budget]:
    """Returns what the other VCPUs got, those whose programs want all of their budget."""
    found = []
    begin = one["programs"][0]["begin"]
    for cell, by_name in one["used"].items():
        for name, used in by_name.items():
            if name == "migration" or (s.shared and (cell, name) == ("two", "comms")):
                continue
            [c_ms] = [v["c"] for v in one["vcpus"][cell] if v["name"] == name]
            got = _whole(used, begin + SETTLED, begin + s.seconds * S)
            lost = sum(us < LEAST * c_ms * 1000 for us in got)
            found.append(Budget(cell, name, len(got), c_ms, min(got) / 1000, lost))
    return found


def migration_used(one: dict[str, Any], cell: str, begin: int, end: int) -> int:
    """Returns the CPU time of the migration thread of a cell between two TSCs, in whole periods."""
    used = one["used"][cell]["migration"]
    length = used["ms"] * MS
    return sum(
        1000 * int(us)
        for i, us in enumerate(used["us"])
        if used["begin"] + (i + 1) * length > begin and used["begin"] + i * length < end
    )


def used_by_move(one: dict[str, Any], p: dict[str, Any], cell: str) -> int:
    start = p["begin"] + p["moved_at_ns"]
    return migration_used(one, cell, start, start + p["moved_ns"])


def utilisation(s: Setup, one: dict[str, Any], cell: str) -> list[float]:
    """Returns which part of its budget the migration thread used, in each second of the program."""
    begin, budget = program(one)["begin"], S * s.migration[0] / s.migration[1]
    used = one["used"][cell]["migration"]
    length = used["ms"] * MS
    found = [0.0] * s.seconds
    for i, us in enumerate(used["us"]):
        second = (used["begin"] + i * length + length // 2 - begin) // S
        if 0 <= second < s.seconds:
            found[second] += us * 1000 / budget
    return found


def _end(one: dict[str, Any], cell: str, name: str, more: Vcpu) -> analyze.End:
    """Returns a thread on VCPU `name` of a cell, with the VCPU of the program."""
    plain = [
        (v["name"], Vcpu(int(v["c"] * MS), int(v["t"] * MS), v["io"])) for v in one["vcpus"][cell]
    ]
    me = [own for own, _ in plain].index(name)
    return analyze.End([*(vcpu for _, vcpu in plain), more], me, 0)


def frame(p: dict[str, Any], vcpu: Vcpu) -> int:
    """Returns the CPU time of a result of the program."""
    return int(S * vcpu.budget / vcpu.period / max(statistics.median(p["counts"]), 1))


def vcpu_of(p: dict[str, Any]) -> Vcpu:
    return Vcpu(C // 2 if p["program"] == "sieve" else C, T)


def cost_bound(
    s: Setup, one: dict[str, Any], source: str, pack: int, unpack: int, vcpu: Vcpu
) -> int:
    """Returns D_mig by direct copy, for CPU times of the source and of the destination. With
    MIG_STRICT the source begins when it has so much budget."""
    first, second = (_end(one, cell, "migration", vcpu) for cell in (source, "two"))
    ready = admission.response(first.vcpus, first.me, max(pack, 1)) if s.how == "strict" else None
    return (
        (ready or analyze.response(first, max(pack, 1)))
        + analyze.response(second, max(unpack, 1))
        + POLL
    )


def slots(p: dict[str, Any]) -> int:
    return -(-int(p["kib"]) * 1024 // 4096 * PAGE // (4096 - HEADER))


def bound(s: Setup, one: dict[str, Any], p: dict[str, Any]) -> int | None:
    """Returns the longest time of this move by the rules of quest-scheduling.md, for the CPU times
    that it took: from its last result at the source until its first one at the destination. None:
    there is no bound, as another thread has the same VCPU."""
    if s.shared:
        return None
    source = "three" if p["program"] == "sieve" else "one"
    vcpu = vcpu_of(p)
    pack, unpack = used_by_move(one, p, source), used_by_move(one, p, "two")
    ends = [_end(one, cell, "migration", vcpu) for cell in (source, "two")]
    if s.direct:
        cost = cost_bound(s, one, source, pack, unpack, vcpu)
    else:
        n = slots(p)
        each = [
            analyze.response(end, -(-used // n))
            for end, used in zip(ends, (pack, unpack), strict=True)
        ]
        cost = analyze.migration(analyze.response, ends[0], pack, n * sum(each), ends[1], unpack)
    own = analyze.End([*ends[1].vcpus[:-1], vcpu], len(ends[1].vcpus) - 1, 0)
    return cost + analyze.response(own, 2 * frame(p, vcpu))
