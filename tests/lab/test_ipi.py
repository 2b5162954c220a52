# SPDX-License-Identifier: GPL-2.0-only
"""Direct IPIs, of Linux (`qvctl enable --ipi direct`) and of a cell (`ipi: direct`)."""

import re

import pytest

from product import Product, on_machines, program
from test_isolation import Deed, deed, logged
from test_watching import until

# Interrupts that Linux sends to a cell: name, low half of the ICR. QEMU does not intercept an INIT,
# and its CPU would leave the monitor. On silicon and in Bochs it exits.
VECTORS = {"vector 0x90": 0x4090, "vector 0xf8": 0x40f8}
STARTS = {"SIPI": 0x4610, "INIT": 0x4500, "SIPI after INIT": 0x4610}
NMI = 0x4400

# A change of a branch in the kernel's text interrupts all CPUs of Linux, by broadcast if it may
BROADCASTS = "for i in $(seq 20); do echo 1; echo 0; done | while read x; do echo $x >/proc/sys/kernel/sched_schedstats; done"


def apic_exits(qv: Product, name: str = "linux") -> int:
    """Returns how many exits the APICs of a cell or of Linux have caused."""
    exits = qv.ask(f"cell stats {name}")["exits"]
    return int(exits["icr"] + exits["xapic"])


def strays(qv: Product) -> int:
    found = re.search(r"(\d+) stray interrupts", qv.quesh("cpu"))
    assert found
    return int(found[1])


@on_machines("xapic", slow=["x2apic-8", "6.1-xapic", "intel"])
def test_linux_with_direct_ipis_causes_no_apic_exits(qv: Product, name: str) -> None:
    """CPUs still go offline and online, to a cell and back, and Linux's own broadcasts spare the
    cell."""
    last = qv.cpus - 1
    qv.machine.put(program("ipicost"), "/run/ipicost")
    assert "level: IPIs of Linux are direct" in qv.do("enable --ipi direct")
    before = apic_exits(qv)
    qv.sh("/run/ipicost 100")
    assert apic_exits(qv) == before
    for _ in range(2):
        qv.sh("echo 0 >/sys/devices/system/cpu/cpu1/online")
        assert not qv.runs_on(1)
        qv.sh("echo 1 >/sys/devices/system/cpu/cpu1/online")
        assert qv.runs_on(1)
    qv.run_cell("quest", last)
    qv.quesh("count")
    before = apic_exits(qv)
    qv.sh(BROADCASTS)
    qv.sh("/run/ipicost 100")
    assert apic_exits(qv) == before
    assert strays(qv) == 0
    qv.assert_counting()
    assert qv.machine.run(f"echo 1 >/sys/devices/system/cpu/cpu{last}/online").rc == 1
    qv.do("cell destroy quest")
    assert qv.online() == qv.all_online
    assert qv.sh("cat /sys/devices/system/cpu/present").strip() == qv.all_online
    qv.do("disable")
    assert qv.ask("status")["ipi"] == "filtered"


@pytest.mark.slow
def test_lock_and_direct_ipis_exclude_each_other(qv: Product) -> None:
    qv.do("enable --ipi direct")
    assert "is enabled already, with direct IPIs" in qv.refused("enable --ipi filtered")
    path = qv.config("quest", 2)
    qv.sh(f"echo 'lock: may' >>{path}")
    assert "direct IPIs of linux would void the lock of cell 'quest'" in qv.refused(f"cell create {path}")
    assert qv.ask("cell list")["linux_ipi"] == "direct"
    assert "level: IPIs of Linux are direct" in qv.do("cell list")
    assert "level: IPIs of Linux are direct" in qv.do("log")
    qv.do("disable")
    qv.do(f"cell create {path}")
    qv.sh(f"sed 's/^name:.*/name: other/; s/^cpus:.*/cpus: [3]/; s/^lock:.*/ipi: direct/' {path} >/run/other.yaml")
    assert "direct IPIs of other would void the lock of cell 'quest'" in qv.refused("cell create /run/other.yaml")
    assert "direct IPIs would void the lock of the cell quest" in qv.qvctl("config check /run/other.yaml").err
    qv.do("cell destroy quest")
    qv.do("cell create /run/other.yaml")
    assert "direct IPIs of other would void the lock of cell 'quest'" in qv.refused(f"cell create {path}")
    restart_is_refused_in_time(qv, path)


def restart_is_refused_in_time(qv: Product, path: str) -> None:
    """A cell with direct IPIs that has ended does not start again while there is a younger
    cell without them. The refusal changes nothing."""
    qv.sh(f"sed -i '/^lock:/d' {path}")
    qv.do("cell start other")
    qv.do(f"cell create {path}")
    qv.do("cell shutdown other --timeout 0")
    before = qv.show("other")
    assert "direct IPIs of other would reach cell 'quest', which is without them" in qv.refused("cell start other")
    assert qv.show("other") == before
    qv.do("cell destroy quest")
    qv.do("cell start other")


@on_machines("xapic", slow=["x2apic-8", "intel"])
@pytest.mark.slow
def test_cell_with_direct_ipis_causes_no_apic_exits(qv: Product, name: str) -> None:
    """Nor do its timers, with its APIC in the machine's mode. The next cell on its CPU has the
    filter again."""
    path = qv.config("quest", qv.cpus - 1)
    qv.sh(f"echo 'apic: machine' >>{path}; (cat {path}; echo 'ipi: direct') >/run/direct.yaml")
    qv.do("cell create /run/direct.yaml --start")
    x2apic = qv.show()["x2apic"]
    assert ("x2APIC" if x2apic else "xAPIC") + "!DIRECT-IPI" in qv.do("cell list")
    assert qv.show()["ipi"] == "direct"
    assert "IPIs of cell quest are direct" in qv.do("log")
    qv.quesh("count")
    qv.assert_counting()
    assert apic_exits(qv, "quest") == 0
    qv.do("cell destroy quest")
    qv.do(f"cell create {path} --start")
    qv.quesh("count")
    qv.assert_counting()
    assert (apic_exits(qv, "quest") > 0) == (not x2apic), "the filter is in force again"


@on_machines("xapic", slow=["x2apic-8", "intel"])
@pytest.mark.slow
def test_direct_ipis_reach_cell_and_start_nothing(qv: Product, deed: Deed, name: str) -> None:
    """Direct IPIs give up that Linux cannot interrupt a cell. INIT and SIPI still start nothing, and
    an NMI harms that cell alone."""
    first, last = qv.cpus - 2, qv.cpus - 1
    qv.do("enable --ipi direct")
    qv.run_cell("quest", last)
    qv.quesh("count")
    for what, low in STARTS.items():
        if what == "SIPI" or name == "intel":
            counted = qv.count()
            assert deed("icr", f"{last:x} {low:x}").rc == 0, what
            assert qv.count() >= counted, f"{what} restarted it"
    qv.assert_counting()
    assert ("an INIT signal from outside the cell was ignored" in logged(qv)) == (name == "intel")
    before = strays(qv)
    for what, low in VECTORS.items():
        assert deed("icr", f"{last:x} {low:x}").rc == 0, what
    assert strays(qv) > before, "IPIs are not direct"
    qv.assert_counting()
    qv.sh(f"sed 's/^name:.*/name: other/' {qv.config('quest', first)} >/run/other.yaml")
    qv.do("cell create /run/other.yaml --start")
    qv.quesh("count", "other")
    assert deed("icr", f"{last:x} {NMI:x}").rc == 0
    until(lambda: qv.show("quest")["state"] == "failed", "Quest stops at an NMI, then the watchdog stops it")
    qv.assert_counting("other")
    qv.do("cell destroy quest")
    qv.do("cell destroy other")
    assert qv.online() == qv.all_online
