# SPDX-License-Identifier: GPL-2.0-only
"""A CPU of a running cell disappears. Linux gets the other CPUs back, and qvctl names the lost
CPU."""

import pytest

from lab.machine import Machine
from product import CONFIGS, Product

# QEMU's registers of CPU hotplug: docs/specs/acpi_cpu_hotplug
SELECT, CONTROL, EJECT = 0xCD8, 0xCDC, "08"


def put(machine: Machine, port: int, byte: str) -> None:
    machine.run(f"printf '\\x{byte}' | dd of=/dev/port bs=1 seek={port} conv=notrunc status=none", timeout=30)


@pytest.mark.machine(fresh=True)
@pytest.mark.slow
def test_ejected_cpu_is_lost_and_others_return(machine: Machine) -> None:
    """test_hooks=8 turns the guards off. CPU 3 is ejected while the cell runs on CPUs 2 and 3."""
    qv = Product(machine)
    qv.sh("modprobe qv test_hooks=8")
    qv.sh(f"sed 's/^cpus:.*/cpus: [2, 3]/' {CONFIGS}/quest.yaml >/run/two.yaml")
    qv.do("cell create /run/two.yaml")
    qv.do("cell start quest")
    put(machine, SELECT, "03")
    put(machine, CONTROL, EJECT)
    said = qv.refused("cell shutdown quest --timeout 1") + qv.refused("cell destroy quest")
    assert said.count("CPU 3 of cell 'quest' does not answer the monitor: it stays offline, with the cell's memory and devices") == 2
    assert qv.online() == "0-2" and qv.runs_on(2), "Linux did not get the other CPUs back"
    shown = qv.show()
    assert (shown["state"], shown["cpus"], shown["failure"]["reason"], shown["failure"]["cpu"]) == ("failed", [3], "cpu-lost", 3)
    assert qv.ask("status")["lost_cpus"] == 1
    assert "CPU with apic id 3 did not answer" in qv.do("log")
    assert machine.run("echo 1 >/sys/devices/system/cpu/cpu3/online", 30).rc != 0
    qv.refused("cell start quest")
    qv.sh(f"sed 's/^cpus:.*/cpus: [3]/; s/^name:.*/name: other/' {CONFIGS}/quest.yaml >/run/three.yaml")
    assert machine.run("qvctl cell create /run/three.yaml").rc != 0
    qv.sh("sed -i 's/^cpus:.*/cpus: [2]/' /run/three.yaml")
    qv.do("cell create /run/three.yaml")
    qv.do("cell start other")
    assert qv.quesh("echo another cell", "other") == "another cell\n"
    qv.do("cell destroy other")
    assert qv.online() == "0-2"
    qv.refused("disable")
