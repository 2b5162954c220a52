# SPDX-License-Identifier: GPL-2.0-only
"""A hostile cell that logs as fast as it can."""

import re

import pytest

from front import Linux
from lab.machine import Machine
from machines import MACHINES, mode

CELL = """name: {name}
cpus: [{cpu}]
memory: 4M
image: /run/attack/attack.elf
cmdline: {attack}
apic: machine
"""
SECONDS = 4  # of the flood; 2 pushed everything out of the log once


def create(machine: Machine, name: str, cpu: int, attack: str) -> None:
    file = CELL.format(name=name, cpu=cpu, attack=attack)
    created = machine.run("qvctl cell create - --start", stdin=file.encode())
    assert created.rc == 0, created


@pytest.mark.parametrize("where, attack", [
    pytest.param("xapic", "flood-vmrun", marks=pytest.mark.machine(**MACHINES["xapic"])),
    pytest.param("intel", "flood-vmxon", marks=[pytest.mark.machine(**MACHINES["intel"]), pytest.mark.slow])])
def test_flood_spares_the_log_of_others(machine: Machine, where: str, attack: str) -> None:
    """The log keeps the failure and the life of another cell, and `qvctl log` ends."""
    linux = Linux(machine, mode(where))
    linux.arena.ask("neighbours")  # the attacker's cell is gone
    create(machine, "victim", 1, "ins-triple-fault")
    failed = machine.run("for n in $(seq 100); do qvctl cell list | grep '^victim  *failed' && exit; "
                         "sleep 0.2; done; exit 1", 120)
    assert failed.rc == 0, failed
    create(machine, "flooder", 3, attack)
    flooded = machine.run(f"sleep {SECONDS}; timeout 60 qvctl log", 120)
    assert flooded.rc == 0, "qvctl log does not end"
    for line in (r"driver: victim: failed: a triple fault", r"victim: cpu 1: cell failed: a triple fault",
                 r"linux: cpu \d+: cell victim starts", r"driver: flooder: runs",
                 r"flooder: cpu 3: instruction not allowed here: .* \(\d+ times until [\d.]+\)"):
        assert re.search(rf"(?m)^[\d.]+ {line}", flooded.out), (line, flooded.out)
    assert len(flooded.out.splitlines()) < 1000
    destroyed = machine.run("taskset -c 0 qvctl cell destroy flooder victim")  # see lab.md, faults of the emulators
    assert destroyed.rc == 0, destroyed
    linux.arena.ask("neighbours")
