# SPDX-License-Identifier: GPL-2.0-only
"""A cell with direct IPIs that changes the id of its APIC."""

import pytest

from front import Linux
from lab.machine import Machine
from machines import DIRECT, MACHINES, mode

CPU, NEW_ID = 3, 0x55
NMI = 0x4400
CELL = f"""name: other-id
cpus: [{CPU}]
memory: 4M
image: /run/attack/attack.elf
cmdline: change-id
apic: machine
ipi: direct
"""


@pytest.mark.parametrize("where", [pytest.param(name, marks=pytest.mark.machine(**MACHINES[machine]))
                                   for name, machine in DIRECT.items()])
@pytest.mark.slow
def test_changed_apic_id_is_restored(machine: Machine, where: str) -> None:
    """The monitor loses the CPU, as the security model says. An NMI for the new id brings it back
    to Linux, with its own id."""
    linux = Linux(machine, mode(where))
    linux.arena.ask("neighbours")  # the attacker's cell is gone
    created = machine.run("qvctl cell create - --start", stdin=CELL.encode())
    assert created.rc == 0, created
    looked = machine.run(f"for n in $(seq 100); do quesh other-id --dump | grep 'id {NEW_ID:x}' && exit; "
                         "sleep 0.2; done; quesh other-id --dump; exit 1", 120)
    assert looked.rc == 0, looked
    lost = machine.run("qvctl cell destroy other-id")
    assert lost.rc == 1 and "answer" in lost.out, lost
    linux.do("icr", NEW_ID, NMI, by="qvtouch")
    back = machine.run("qvctl cell destroy other-id")
    assert back.rc == 0, back
    assert machine.run(f"taskset -c {CPU} true").rc == 0, "Linux cannot start the CPU"
    linux.arena.ask("neighbours")
