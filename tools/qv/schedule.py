# SPDX-License-Identifier: GPL-2.0-only
"""What `config check -v` tells of a cell's VCPUs: how much of the CPU they may take, and how long each may wait."""
from __future__ import annotations

from . import admission, output, vcpus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .config import CellConfig

COMMAND = admission.Vcpu(20000, 100000)     # of each program that Quest's shell runs: COMMAND_C, COMMAND_T in kernel/uservcpu.h


def _commands(cell: CellConfig) -> int:
    """So many of them are admitted beside all others."""
    count = 0
    while not vcpus.refusal([*cell.vcpus, *[vcpus.Named("", COMMAND)] * (count + 1)], cell.admission):
        count += 1
    return count


def facts(cell: CellConfig) -> dict[str, Any]:
    """Of Quest's own VCPUs and those of the cell. Times in us; shares of the CPU, 1 is all."""
    everybody = [*(vcpus.Named(name, v) for name, v in vcpus.OWN.items()), *cell.vcpus]
    plain = [one.vcpu for one in everybody]
    one = 1 << admission.UNITS
    return {
        "file": cell.file, "admission": cell.admission, "commands": _commands(cell),
        "load": admission.load(plain) / one,
        "bound": admission.limit(sum(not v.io for v in plain)) / one,
        "vcpus": [{
            "name": named.name, "type": vcpus.TYPES[named.vcpu.io],
            "budget_us": named.vcpu.budget, "period_us": named.vcpu.period,
            "load": admission.load([named.vcpu]) / one,
            "response_us": None if named.vcpu.io else admission.response(plain, i),
        } for i, named in enumerate(everybody)],
    }


def show(cell: CellConfig) -> None:
    """A table, and what it comes to."""
    found = facts(cell)
    output.table(("VCPU", "TYPE", "C", "T", "LOAD", "RESPONSE"), [
        (v["name"], v["type"], vcpus.written(v["budget_us"]), vcpus.written(v["period_us"]), f"{v['load']:.1%}",
         "-" if v["response_us"] is None else vcpus.written(v["response_us"])) for v in found["vcpus"]],
        right=frozenset({2, 3, 4, 5}))
    output.line(f"all: {found['load']:.1%} of the CPU (bound: {found['bound']:.1%}), admitted by `{cell.admission}`; "
                "RESPONSE: how long each C takes at the worst")
    output.line(f"commands of the shell, each on a VCPU of {vcpus.written(COMMAND.budget)} in {vcpus.written(COMMAND.period)}: "
                f"room for {found['commands']} at once")
