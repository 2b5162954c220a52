# SPDX-License-Identifier: GPL-2.0-only
"""Programs in a real cell: what they do wrong ends them, and neither Quest nor the cell; they cost no exits."""

import re

import pytest

from product import Product

# By what each is killed; inmates/tests/test_programs.py has all the words. Not here: WBINVD and INVD, for which QEMU 11
# does not look at the ring.
FAULTS = {
    "divide": "#DE", "jump": "#PF", "write": "#PF", "read": "#PF", "null": "#PF", "stack": "#PF", "thread": "#PF",
    "opcode": "#UD", "code": "#PF", "data": "#PF", "noncanonical": "#GP", "hlt": "#GP", "cli": "#GP", "in": "#GP",
    "out": "#GP", "rdmsr": "#GP", "wrmsr": "#GP", "cr3": "#GP", "cr0": "#GP", "dr7": "#GP", "lidt": "#GP",
    "invlpg": "#GP", "clts": "#GP", "swapgs": "#GP", "int_e0": "#GP", "iopl": "#GP",
    "selector": "#GP", "local": "#GP", "sysenter": "#(GP|UD)", "sysret": "#(GP|UD)", "xsetbv": "#(GP|UD)", "vmmcall": "#UD", "vmcall": "#(GP|UD)",
    "vmrun": "#(GP|UD)", "stgi": "#(GP|UD)", "vmxoff": "#(GP|UD)",
}


def memory(qv: Product) -> str:
    return qv.quesh("meminfo")


@pytest.mark.both_vendors
def test_programs_in_a_cell(qv: Product) -> None:
    """One after another, on one cell: each run is some seconds of a slow machine."""
    qv.run_cell()
    before = memory(qv)
    assert "0 programs" in before
    assert re.fullmatch(r"calls: \d+ right, 0 wrong\n", qv.quesh("calls", timeout=120))
    assert "751 edge points, checksum 6309e484" in qv.quesh("canny")
    assert "25 primes below 100" in qv.quesh("prime 100")
    assert memory(qv) == before
    assert qv.show()["state"] == "running"


def test_faults_end_the_program_and_nothing_else(qv: Product) -> None:
    """A program's VMMCALL too: the monitor gives it #UD, as on a machine without one, and the cell lives."""
    qv.run_cell()
    before = memory(qv)
    for way, exception in FAULTS.items():
        out = qv.quesh(f"fault {way}")
        assert re.search(rf"fault \(pid \d+, thread \d+\) is killed: {exception}", out), (way, out)
        assert qv.show()["state"] == "running", way
    assert memory(qv) == before
    assert qv.quesh("echo alive") == "alive\n"


def test_hostile_system_calls(qv: Product) -> None:
    qv.run_cell()
    before = memory(qv)
    for seed in (1, 2):
        out = qv.quesh(f"fuzz 60 {seed}", timeout=120)
        assert re.search(r"fuzz: 60 children, \d+ ended, \d+ were killed", out), out
    assert memory(qv) == before
    assert qv.show()["state"] == "running"
    assert "25 primes" in qv.quesh("prime 100")


def exits(qv: Product) -> int:
    return int(sum(qv.ask("cell stats quest")["cpus"][0]["exits"].values()))


@pytest.mark.machine(iommu="intel")
def test_a_program_causes_no_exits(qv: Product) -> None:
    """With x2APIC, where timer and EOI are direct: a second of system calls, and programs that take turns, cost none."""
    qv.run_cell()
    qv.quesh("spinner &")
    before = exits(qv)
    out = qv.quesh("spinner 1000", timeout=60)
    assert re.search(r"spinner: 1000 ms, \d+ us of CPU", out)
    assert exits(qv) == before
