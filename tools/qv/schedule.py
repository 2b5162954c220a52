# SPDX-License-Identifier: GPL-2.0-only
"""The output of `config check -v` about VCPUs: their share of the CPU and their worst-case response
times."""

from __future__ import annotations

from . import admission, output
from .keys import vcpus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .keys import CellConfig

# the VCPU of each program that Quest's shell starts: COMMAND_C, COMMAND_T in kernel/vcpu/uservcpu.h
COMMAND = admission.Vcpu(20000, 100000)


def _commands(cell: CellConfig) -> int:
    """Returns the number of commands that are admitted in addition to all VCPUs."""
    count = 0
    while not vcpus.refusal(
        [*cell.vcpus, *[vcpus.Named("(a command)", COMMAND)] * (count + 1)], cell.admission
    ):
        count += 1
    return count


def facts(cell: CellConfig) -> dict[str, Any]:
    """Returns facts about the VCPUs of Quest and of the cell. Times are in us. A share of 1 is the
    whole CPU."""
    everybody = vcpus.everybody(cell.vcpus)
    plain = [one.vcpu for one in everybody if one.vcpu]
    one = 1 << admission.UNITS
    return {
        "file": cell.file,
        "admission": cell.admission,
        "commands": _commands(cell),
        "load": admission.load(plain) / one,
        "bound": admission.limit(sum(not v.io for v in plain)) / one,
        "vcpus": [_row(named, plain) for named in everybody],
    }


def _row(named: vcpus.Named, plain: list[admission.Vcpu]) -> dict[str, Any]:
    v = named.vcpu
    if v is None:
        return {
            "name": named.name,
            "type": vcpus.NONE,
            "budget_us": None,
            "period_us": None,
            "load": 0.0,
            "response_us": None,
        }
    return {
        "name": named.name,
        "type": vcpus.TYPES[v.io],
        "budget_us": v.budget,
        "period_us": v.period,
        "load": admission.load([v]) / (1 << admission.UNITS),
        "response_us": None
        if v.io
        else admission.response(plain, next(i for i, one in enumerate(plain) if one is v)),
    }


def _time(us: int | None) -> str:
    return "-" if us is None else vcpus.written(us)


def show(cell: CellConfig) -> None:
    """Prints a table and its sum."""
    found = facts(cell)
    output.table(
        ("VCPU", "TYPE", "C", "T", "LOAD", "RESPONSE"),
        [
            (
                v["name"],
                v["type"],
                _time(v["budget_us"]),
                _time(v["period_us"]),
                f"{v['load']:.1%}",
                _time(v["response_us"]),
            )
            for v in found["vcpus"]
        ],
        right=frozenset({2, 3, 4, 5}),
    )
    output.line(
        f"all: {found['load']:.1%} of the CPU (bound: {found['bound']:.1%}), "
        f"admitted by `{cell.admission}`; "
        "RESPONSE: how long each C takes at the worst"
    )
    output.line(
        "commands of the shell, each on a VCPU of "
        f"{vcpus.written(COMMAND.budget)} in {vcpus.written(COMMAND.period)}: "
        f"room for {found['commands']} at once"
    )
