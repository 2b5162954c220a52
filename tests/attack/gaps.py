# SPDX-License-Identifier: GPL-2.0-only
"""How much attacks that do not end delay their neighbours, in repeatable time.

Measures the worst gap between two beats of the witness cell and of the witness in Linux, and
compares it with that of as many cells that attack nothing. The test takes long, so it is run by
name: qvlab test tests/attack/gaps.py"""

import json

import pytest

import arena
import rows
from lab.machine import Machine
from lab.paths import BUILD

REPORT = BUILD / "attack-gaps.json"
# In that machine one instruction takes one ns and the CPUs run round-robin. So the numbers show how
# much an attack interferes, not how long this takes on hardware. A missed beat would be 1 ms.
WORST_RATIO = 3.0
QUIET = 0.03  # seconds of the machine's time that each attack continues: thirty beats
# One attack of each kind of interference: exits, interrupts, caches, memory, a CPU that ignores
# requests
NAMES = ("flood-cpuid", "flood-icr", "flood-wbinvd", "flood-memory", "flood-apic", "ins-loop-off", "ins-db-storm")


@pytest.mark.machine(memory="1536M", icount=True)
def test_gaps_of_neighbours_stay_bounded(machine: Machine) -> None:
    there = arena.arena(machine)
    run = [row for row in rows.every() if row.name in NAMES]
    assert len(run) == len(NAMES)
    found = {}
    for kind in ("calm", "attacked"):
        before = there.ask("gaps")["beats"]
        for row in run:
            result = there.ask("row", timeout=300, name=row.name if kind == "attacked" else "nothing-lasting",
                               flags=sorted(row.flags), quiet=QUIET)
            assert not result["wrong"], (row.name, result)
        found[kind] = there.ask("gaps")
        found[kind]["beats"] -= before
    found["rows"] = len(run)
    for who in ("witness_ns", "linux_ns"):
        found[f"{who}_ratio"] = found["attacked"][who] / found["calm"][who]
    REPORT.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found))
    assert found["witness_ns_ratio"] < WORST_RATIO, found
    assert found["linux_ns_ratio"] < WORST_RATIO, found
