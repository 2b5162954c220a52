# SPDX-License-Identifier: GPL-2.0-only
"""Programs of Quest in a real cell. A fault ends only its program, and programs cause no exits."""

import re

import pytest

from product import TEST_IMAGE, Product
from test_watching import until

# By the argument of Quest's program `fault`: the exception that kills it. See
# inmates/tests/test_programs.py.
FAULTS = {
    "divide": "#DE", "jump": "#PF", "write": "#PF", "read": "#PF", "null": "#PF", "stack": "#PF", "thread": "#PF",
    "opcode": "#UD", "code": "#PF", "data": "#PF", "noncanonical": "#GP", "hlt": "#GP", "cli": "#GP", "in": "#GP",
    "out": "#GP", "rdmsr": "#GP", "wrmsr": "#GP", "cr3": "#GP", "cr0": "#GP", "dr7": "#GP", "lidt": "#GP",
    "invlpg": "#GP", "clts": "#GP", "swapgs": "#GP", "int_f0": "#GP", "iopl": "#GP",
    "selector": "#GP", "local": "#GP", "sysenter": "#(GP|UD)", "sysret": "#(GP|UD)", "xsetbv": "#(GP|UD)", "vmmcall": "#UD", "vmcall": "#(GP|UD)",
    "vmrun": "#(GP|UD)", "stgi": "#(GP|UD)", "vmxoff": "#(GP|UD)",
}
UNSEEN = {"wbinvd": "#GP", "invd": "#GP"}   # Bochs checks the privilege level for these, QEMU 11 does not
# in Bochs each fault takes seconds, so only these are tried there
FEW = ("divide", "jump", "write", "stack", "vmcall", "vmxoff")


def memory(qv: Product) -> str:
    return qv.quesh("meminfo")


@pytest.mark.both_vendors
def test_programs_run_and_free_their_memory(qv: Product) -> None:
    """All programs run in one cell, since starting a cell takes seconds on a slow machine."""
    qv.run_cell(image=TEST_IMAGE)
    before = memory(qv)
    assert "0 programs" in before
    assert re.fullmatch(r"calls: \d+ right, 0 wrong\n", qv.quesh("calls", timeout=120))
    assert "751 edge points, checksum 6309e484" in qv.quesh("canny")
    assert "25 primes below 100" in qv.quesh("prime 100")
    assert memory(qv) == before
    assert qv.show()["state"] == "running"


@pytest.mark.both_vendors
@pytest.mark.slow
def test_fault_ends_only_its_program(qv: Product) -> None:
    """VMMCALL in a program raises #UD, as on a machine without a hypervisor. The cell and another
    program, which exists the whole time, run on."""
    qv.run_cell(image=TEST_IMAGE)
    at_first = memory(qv)
    # this program sleeps all the time
    other = re.match(r"\[(\d+)\] logger\n", qv.quesh("logger 1 1000000 &"))
    assert other
    before = memory(qv)
    assert "1 programs" in before
    slow = {**{way: FAULTS[way] for way in FEW}, **UNSEEN}
    for way, by in (slow if qv.machine.config.machine == "intel" else FAULTS).items():
        out = qv.quesh(f"fault {way}", timeout=60)
        assert re.search(rf"fault \(pid \d+, thread \d+\) is killed: {by}", out), (way, out)
        assert qv.show()["state"] == "running", way
    assert memory(qv) == before
    assert re.search(rf"(?m)^ *{other[1]} +0 logger +live", qv.quesh("ps"))
    qv.quesh(f"kill {other[1]}")
    until(lambda: memory(qv) == at_first, "the end of the other program")
    assert qv.quesh("echo alive") == "alive\n"


@pytest.mark.both_vendors
@pytest.mark.slow
def test_hostile_system_calls_harm_no_other_program(qv: Product) -> None:
    """Each child process begins with a different one of the system calls, so each call is tried. A
    child of a child may wait without end, and is killed."""
    children, seeds = (52, (1,)) if qv.machine.config.machine == "intel" else (60, (1, 2))
    qv.run_cell(image=TEST_IMAGE)
    before = memory(qv)
    for seed in seeds:
        out = qv.quesh(f"fuzz {children} {seed}", timeout=120)
        found = re.search(rf"fuzz: {children} children, \d+ ended, \d+ were killed, (\d+) of (\d+) calls tried", out)
        assert found and found[1] == found[2], out
        for pid in re.findall(r"(?m)^ *(\d+) +-?\d+ fuzz +live", qv.quesh("ps")):
            qv.quesh(f"kill {pid}")
    until(lambda: memory(qv) == before, "all memory free again")
    assert qv.show()["state"] == "running"
    assert "25 primes" in qv.quesh("prime 100")


def exits(qv: Product) -> int:
    return int(sum(qv.ask("cell stats quest")["cpus"][0]["exits"].values()))


@pytest.mark.machine(iommu="intel")  # the machine of other tests, so that they share a boot
def test_program_causes_no_exit(qv: Product) -> None:
    """With x2APIC, timer and EOI are direct. Two programs that share the CPU for a second of system
    calls cause no exit."""
    qv.run_cell()
    qv.quesh("spinner &")
    before = exits(qv)
    out = qv.quesh("spinner 1000", timeout=60)
    assert re.search(r"spinner: 1000 ms, \d+ us of CPU", out)
    assert exits(qv) == before


@pytest.mark.both_vendors
def test_quesh_returns_status_of_command(qv: Product) -> None:
    def status(line: str, *more: str) -> int:
        done = qv.machine.run(["quesh", "quest", *more, "-c", line], 60, merge=False)
        assert done.err == "", done
        return done.rc

    qv.run_cell(image=TEST_IMAGE)
    assert status("echo hello") == 0
    assert status("nonsense") == 127
    assert status("vcpu=nobody hello") == 127
    assert status("uptime") == 0
    assert status("kill") == 2 and status("kill 4711") == 1
    # test_fakecell.py has all cases
    assert status("load 90 100") == 1 and status("load 1") == 2
    assert status("fault stack") == 128 + 11
    assert status("hello") == 0
    spun = qv.machine.run(["quesh", "quest", "-t", "1", "-c", "spinner"], 60, merge=False)
    assert spun.rc == 124 and "did not end within 1 s\n  it was interrupted by ^C" in spun.err, spun
    assert status("echo ready") == 0
    cut = qv.machine.run(["quesh", "quest", "-c", f"echo {'x' * 155}"], 60, merge=False)
    assert cut.rc == 2 and "the line has 160 bytes, and the cell's shell takes 159" in cut.err and cut.out == ""
    assert qv.quesh(f"echo {'x' * 154}") == "x" * 154 + "\n"
