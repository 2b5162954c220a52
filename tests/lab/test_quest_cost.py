# SPDX-License-Identifier: GPL-2.0-only
"""What QV costs programs: the same Quest alone on the emulated machine and in a cell, both with a clock that counts instructions."""

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from lab.paths import BUILD, TOP
from product import Product

GOAL = 1.02             # for what makes no exit: always system calls; all the rest with x2APIC
WITH_XAPIC = 1.10       # for what sets the timer: there each access to the APIC's page is an exit
EXITLESS = ("system-call",)
OUT = BUILD / "bench-quest.json"


def alone() -> Any:
    """inmates/tests/machine.py: a PC with Quest and nothing else."""
    spec = importlib.util.spec_from_file_location("quest_machine", TOP / "inmates/tests/machine.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbers(text: str) -> dict[str, int]:
    """The least of each line: nothing came between."""
    found = {name: int(least) for name, least in re.findall(r"(?m)^(\S+) rounds=\d+ least=(\d+)", text)}
    assert len(found) == 5, text
    return found


def measure_alone(kernel: Path) -> dict[str, int]:
    m = alone()
    with m.Machine("-cpu", "EPYC-v4", "-icount", "shift=0,sleep=off", "-kernel", str(kernel)) as machine:
        return numbers(m.Shell(machine, r"(?m)^> ").run("measure"))


@pytest.mark.machine(icount=True)
def test_what_a_cell_costs_programs(qv: Product) -> None:
    """In xAPIC mode: with x2APIC QEMU counts instructions ten times slower. That programs make no exits there is
    shown by test_quest.py."""
    base = measure_alone(BUILD / "inmates/quest/quest32.elf")
    qv.run_cell()
    cell = numbers(qv.quesh("measure", timeout=240))
    ratio = {name: round(cell[name] / base[name], 4) for name in base}
    OUT.write_text(json.dumps({"alone": base, "cell": cell, "ratio": ratio}, indent=2) + "\n")
    assert all(ratio[name] <= (GOAL if name in EXITLESS else WITH_XAPIC) for name in base), (ratio, base, cell)
