# SPDX-License-Identifier: GPL-2.0-only
"""From insmod to a cell's shell, and back to Linux alone, on every kind of machine."""

import re
import subprocess
from pathlib import Path

import pytest

from product import MACHINES, Product, on_machines

KERNEL_KIB = 3 << 10  # tolerance for memory that Linux itself allocates and frees within a second


@on_machines("xapic", "x2apic", "6.1-xapic", slow=["intel", "x2apic-8", "6.1-x2apic-2", "rt", "sid"])
def test_insmod_to_rmmod_restores_linux(qv: Product, name: str) -> None:
    cpu = qv.cpus - 1
    x2apic = "iommu" in MACHINES[name]
    doctor = qv.ask("doctor")
    assert doctor["ok"], doctor
    before = qv.pages_kib()

    qv.sh("insmod /lib/modules/$(uname -r)/updates/qv.ko")
    status = qv.ask("status")
    assert (status["enabled"], status["vendor"], status["obstacle"]) == (False, qv.vendor.name, None)
    assert status["x2apic"] == x2apic
    qv.do(f"cell create {qv.config('quest', cpu)}")  # enables too
    assert qv.show()["state"] == "loadable"
    qv.do("cell start quest")

    [cell] = qv.ask("cell list")["cells"]
    assert (cell["name"], cell["state"], cell["cpus"], cell["memory"]) == ("quest", "running", [cpu], 64 << 20)
    assert "help" in qv.quesh("help") and "shell" in qv.quesh("ps")
    assert qv.quesh("echo hello from Quest") == "hello from Quest\n"
    shown = qv.quesh("cpu")
    assert "x2APIC" in shown and f"id {cpu}," in shown, shown
    assert re.search(r"ram +000000100000-000004000000", qv.quesh("mem"))

    [stats] = qv.ask("cell stats quest")["cpus"]
    assert stats["cpu"] == cpu
    assert [c["cpu"] for c in qv.ask("cell stats linux")["cpus"]] == [c for c in range(qv.cpus) if c != cpu]
    assert qv.sh("grep -c ^processor /proc/cpuinfo") == f"{qv.cpus - 1}\n"
    assert qv.online() == (f"0-{cpu - 1}" if cpu > 1 else "0")
    assert not qv.runs_on(cpu)
    assert before - qv.pages_kib() > (64 << 10) - KERNEL_KIB

    longest = {c["cpu"]: c["held_max_ns"] for c in qv.ask("cell stats linux")["cpus"]}
    qv.do("cell destroy quest")
    later = {c["cpu"]: c["held_max_ns"] for c in qv.ask("cell stats linux")["cpus"]}
    assert list(later) == list(range(qv.cpus)) and all(later[c] >= longest[c] for c in longest), "a maximum was reset"
    assert qv.online() == qv.all_online and qv.runs_on(cpu)
    qv.do("disable")
    qv.sh("rmmod qv")
    assert before - qv.pages_kib() < KERNEL_KIB


@pytest.mark.machine(machine="intel")
def test_cell_lives_on_vt_x(qv: Product) -> None:
    """The steps of the test above that say most, in a machine where each command takes seconds."""
    cpu = qv.cpus - 1
    qv.do(f"cell create {qv.config('quest', cpu)} --start")
    assert qv.quesh("echo hello from Quest") == "hello from Quest\n"
    assert qv.online() == f"0-{cpu - 1}" and not qv.runs_on(cpu)
    qv.do("cell destroy quest")
    assert qv.online() == qv.all_online and qv.runs_on(cpu)


@pytest.mark.slow
def test_demo_runs_to_its_end() -> None:
    """`make demo` runs to its end. The demo itself checks the numbers of CPUs and of memory."""
    demo = Path(__file__).with_name("demo")
    done = subprocess.run([str(demo)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    for said in ("^# qvctl doctor$", "^quest +running +3 +64M",
                 "^erika +running +2 +16M", "^blink [0-9]+: on$", "^hello from Linux$",
                 "^canny: 160 x 120", "^  2 shell +main", "^# rmmod qv$"):
        assert re.search(said, done.stdout, re.MULTILINE), f"{said}: {done.stdout}"
    assert not re.search("^FAIL ", done.stdout, re.MULTILINE), done.stdout
