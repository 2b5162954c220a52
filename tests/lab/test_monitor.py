# SPDX-License-Identifier: GPL-2.0-only
"""Faults inside the monitor, and a guest state that the processor rejects."""

import re
from pathlib import Path

import pytest

from lab import build, enter, roots
from product import Product, on_machines
from test_watching import until

INMATE = Path(__file__).resolve().parent / "inmate"
KINDS = {"0": "an invalid instruction", "1": "an absent page", "2": "no stack: a double fault"}
CELL = """name: fault
cpus: [3]
memory: 4M
image: /run/fault.elf
boot: multiboot2
cmdline: "{kind}"
console: false
"""


@pytest.fixture
def inmate(qv: Product) -> Product:
    """Builds the inmate that requests faults of its monitor, and copies it into the machine."""
    with build.lock():
        done = enter.run(roots.ensure("tool"), ["make", "-s", "--no-print-directory", "-C", str(INMATE),
                                                f"O={build.OUT}"])
        assert done.returncode == 0, done.stdout
    qv.machine.put(build.OUT / "lab-inmate/fault.elf", "/run/fault.elf")
    return qv


@pytest.fixture
def hooks(inmate: Product) -> Product:
    """Loads the module with its test hooks."""
    inmate.sh("modprobe qv test_hooks=1")
    return inmate


def start(qv: Product, kind: str) -> None:
    qv.sh(f"cat >/run/fault.yaml <<'X'\n{CELL.format(kind=kind)}X")
    qv.do("cell create /run/fault.yaml")
    qv.do("cell start fault")


def failure(qv: Product) -> dict[str, object]:
    until(lambda: qv.show("fault")["state"] == "failed", "the failure of the cell")
    return dict(qv.show("fault")["failure"])


@on_machines("xapic", slow=["x2apic-8", "intel"])
def test_monitor_fault_fails_only_its_cell(hooks: Product, name: str) -> None:
    """The faulting instance's cell becomes `failed`. Another cell and Linux run on, and Linux gets
    the CPU and the memory back."""
    hooks.run_cell("quest", 2)
    hooks.quesh("count")
    for kind, what in KINDS.items():
        start(hooks, kind)
        found = failure(hooks)
        assert found["reason"] == "monitor", f"{what}: {found}"
        assert "fault in the monitor: vector" in hooks.do("log"), what
        hooks.do("cell destroy fault")
        assert hooks.runs_on(3)
        hooks.assert_counting()


@on_machines("xapic", slow=["intel"])
@pytest.mark.slow
def test_monitor_fault_for_linux_raises_gp(hooks: Product, name: str) -> None:
    """Linux gets #GP for the call that faulted. Linux and management continue to work."""
    hooks.run_cell("quest", 2)
    hooks.quesh("count")
    for kind in KINDS:
        hooks.sh(f"echo {kind} >/sys/module/qv/parameters/test_fault")
    assert len(re.findall(r"fault in the monitor: vector (?:6|8|14)", hooks.do("log"))) == len(KINDS)
    hooks.assert_counting()
    hooks.do("cell destroy quest")
    assert hooks.runs_on(2)


@on_machines("xapic", slow=["intel"])
@pytest.mark.slow
def test_fault_call_needs_test_hooks(inmate: Product, name: str) -> None:
    inmate.do("enable")
    start(inmate, "0")
    until(lambda: inmate.show("fault")["heartbeat"], "a heartbeat after the #UD")
    assert inmate.show("fault")["state"] == "running"
    inmate.sh("echo 0 >/sys/module/qv/parameters/test_fault")
    assert "fault in the monitor" not in inmate.do("log")


@on_machines("xapic", "intel", slow=["x2apic-8"])
def test_failing_vm_entry_backs_out_of_enable(qv: Product, name: str) -> None:
    """The processor rejects the state before the point of no return, so all CPUs back out. The
    refusal gives the reason, and Linux is unchanged."""
    qv.sh("modprobe qv test_hooks=2")
    said = qv.refused("enable")
    assert "the processor refused the guest state" in said
    assert qv.ask("status")["enabled"] is False
    assert all(qv.runs_on(cpu) for cpu in range(qv.cpus))
    qv.sh("echo 0 >/sys/module/qv/parameters/test_hooks")
    qv.do("enable")
    qv.do("disable")
