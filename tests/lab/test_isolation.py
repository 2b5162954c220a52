# SPDX-License-Identifier: GPL-2.0-only
"""Linux gets a harmless answer to each denied access. The access is counted and logged. Linux runs
on."""

import re
import time
from collections.abc import Callable, Iterable, Iterator

import pytest

from lab.machine import Result
from product import HYPERVISOR, Product, module, on_machines, program
from test_watching import until

ONES = 2**64 - 1
IDLE_SECONDS = 5
HUGE = 2 << 20
OPEN_PART = 64 << 10  # bytes of an instance that Linux can read: its counters and log
Deed = Callable[[str, object], Result]


@pytest.fixture
def deed(qv: Product) -> Iterator[Deed]:
    """deed("peek", "1000") writes 1000 to the parameter peek of the module qvtouch, and returns the
    result of that command."""
    qv.machine.put(module("qvtouch", qv.machine.config.kernel), "/run/qvtouch.ko")
    qv.sh("insmod /run/qvtouch.ko")
    yield lambda name, value: qv.machine.run(f"echo {value} >/sys/module/qvtouch/parameters/{name}")
    qv.sh("rmmod qvtouch")


def ones(qv: Product) -> list[int]:
    """Returns the addresses of the 2 MiB pages of RAM that Linux reads as ones."""
    return [int(line, 16) for line in qv.sh("cat /sys/module/qvtouch/parameters/ones").split()]


def denied(qv: Product) -> int:
    return sum(cpu["denied"] for cpu in qv.ask("cell stats linux")["cpus"])


def logged(qv: Product) -> str:
    return qv.do("log")


def peek_all(qv: Product, addresses: Iterable[int]) -> set[int]:
    """Returns the set of all values that Linux reads at these addresses."""
    there = " ".join(f"{a:x}" for a in addresses)
    return {int(v) for v in qv.sh(f"cd /sys/module/qvtouch/parameters; for a in {there}; do "
                                  "echo $a >peek || exit; cat value; done").split()}


def fill_all(qv: Product, addresses: Iterable[int], offset: int) -> None:
    """Linux overwrites each of these 2 MiB pages with zeros, from the offset to its end."""
    there = " ".join(f"{a + offset:x}" for a in addresses)
    qv.sh(f"cd /sys/module/qvtouch/parameters; for a in {there}; do echo $a {HUGE - offset:x} 0 >fill || exit; done")


@pytest.mark.both_vendors
@pytest.mark.slow
def test_cell_memory_is_hidden_from_linux(qv: Product, deed: Deed) -> None:
    """Linux cannot reach an instance (2 MiB; 4 MiB for the front end) except its open part, nor the
    memory of a cell from its start on. If a write by Linux got through, Quest would crash."""
    assert ones(qv) == []
    qv.do("enable")
    front_end = ones(qv)
    assert len(front_end) == 2
    qv.do("cell create /usr/share/qv/configs/quest.yaml")
    block = set(ones(qv)) - set(front_end)
    assert len(block) == 1
    qv.do("cell start quest")
    qv.quesh("count")

    before = denied(qv)
    memory = sorted(set(ones(qv)) - set(front_end) - block)
    assert len(memory) == (64 << 20) // HUGE
    assert denied(qv) >= before + len(memory)
    told = re.findall(r"linux: cpu \d+: Linux read memory that is not its own at (\w+): answered with ones", logged(qv))
    assert set(memory) <= {int(address, 16) // HUGE * HUGE for address in told}
    assert peek_all(qv, memory) == {ONES}

    before = denied(qv)
    fill_all(qv, memory, 0)
    fill_all(qv, [*block, *front_end], OPEN_PART)
    assert denied(qv) >= before + len(memory)
    assert "Linux wrote memory that is not its own at 0x" in logged(qv)
    assert peek_all(qv, memory) <= {ONES, 0}, "Linux reads the cell's data"
    qv.assert_counting()
    assert "free" in qv.quesh("mem")

    qv.do("cell destroy quest")
    assert peek_all(qv, (page + at for page in memory for at in (0, 1 << 20, HUGE - 8))) == {0}, "not scrubbed"
    qv.do("disable")
    assert ones(qv) == []


def test_instance_counters_are_readable_but_not_writable(qv: Product, deed: Deed) -> None:
    """Linux can read the open part of an instance, as `qvctl cell stats` does, but not write it."""
    qv.do("enable")
    first, second = ones(qv)
    assert second == first + HUGE
    assert deed("peek", f"{first:x}").rc == 0
    assert deed("fill", f"{first:x} 8 0").rc != 0, "the write raised no #GP"
    assert [c["cpu"] for c in qv.ask("cell stats linux")["cpus"]] == [0, 1, 2, 3]


# Interrupts that would stop, restart or disturb a CPU: name, low half of the ICR
INTERRUPTS = {
    "INIT": 0x4500, "SIPI": 0x4610, "NMI": 0x4400, "SMI": 0x4200, "vector 0x20": 0x4020,
    "vector 0xff": 0x40ff, "the doorbell": 0x4021,
}


@on_machines("xapic", slow=["x2apic-8", "intel"])
@pytest.mark.slow
def test_interrupts_to_cell_are_dropped(qv: Product, deed: Deed, name: str) -> None:
    cpu = qv.cpus - 1
    qv.run_cell("quest", cpu)
    qv.quesh("count")
    strays = re.search(r"(\d+) stray interrupts", qv.quesh("cpu"))
    for what, low in INTERRUPTS.items():
        counted = qv.count()
        assert deed("icr", f"{cpu:x} {low:x}").rc == 0, what
        assert qv.count() >= counted, f"{what} restarted it"
        assert f"IPI {low:#x} to a CPU outside the cell dropped (destination {cpu:#x})" in logged(qv), what
    qv.assert_counting()
    after = re.search(r"(\d+) stray interrupts", qv.quesh("cpu"))
    assert strays and after and strays[1] == after[1]


@pytest.mark.both_vendors
@pytest.mark.slow
def test_protected_msr_writes_are_dropped(qv: Product) -> None:
    apic_base, hsave, smca = 0x1b, 0xc0010117, 0xc0002000

    def read(msr: int) -> int:
        return int.from_bytes(bytes.fromhex(qv.sh(f"dd if=/dev/cpu/1/msr bs=8 count=1 skip={msr} iflag=skip_bytes "
                                                  "status=none | od -An -v -tx1")), "little")

    def write(msr: int, value: int) -> int:
        text = "".join(f"\\x{byte:02x}" for byte in value.to_bytes(8, "little"))
        return qv.machine.run(f"printf '{text}' | dd of=/dev/cpu/1/msr bs=8 seek={msr} oflag=seek_bytes "
                              "conv=notrunc status=none").rc

    qv.sh("modprobe msr")
    bare = read(apic_base)
    qv.run_cell()
    for msr in qv.vendor.dropped:
        before = denied(qv)
        # Dropped without #GP, since kernels write these MSRs when they shut down
        assert write(msr, 0x1000) == 0
        assert denied(qv) == before + 1
        assert f"access to MSR {msr:#x} refused (value 0x1000)" in logged(qv)
    assert read(apic_base) == bare
    for msr in qv.vendor.kept:
        before, value = denied(qv), read(msr)
        assert write(msr, value) == 0, f"{msr:#x}: its present value"
        assert denied(qv) == before, f"{msr:#x}: its present value"
        assert write(msr, value ^ 0x1000) == 0, f"{msr:#x}: another value"
        assert (denied(qv), read(msr)) == (before + 1, value), f"{msr:#x}: not dropped and counted"
    assert read(apic_base) == bare
    if hsave in qv.vendor.dropped:  # Intel processors have none of these two MSRs
        assert read(hsave) == 0, "Linux reads the address of the monitor's host save area"
        assert read(smca) == 0, "Linux reads a bank that is not in the permission map"
    assert qv.quesh("echo alive") == "alive\n"
    qv.do("cell destroy quest")
    qv.do("disable")
    qv.sh("rmmod msr")


@pytest.mark.both_vendors
@pytest.mark.slow
def test_hypervisor_instructions_raise_ud(qv: Product, deed: Deed) -> None:
    """These instructions raise #UD, as on a processor without SVM and VT-x. INVD would discard
    writes of other CPUs, but does not."""
    qv.run_cell()
    qv.quesh("count")
    for name in HYPERVISOR:
        went = deed("instruction", name)
        assert went.rc != 0 and "Bad address" in went.out, name
    assert deed("instruction", "invd").rc == 0
    qv.assert_counting()


@pytest.mark.both_vendors
@pytest.mark.slow
def test_hypercall_from_program_raises_ud(qv: Product) -> None:
    qv.machine.put(program("hypercall"), "/run/hypercall")
    qv.run_cell()
    assert qv.sh("/run/hypercall") == "0 done\n"
    assert qv.show()["state"] == "running"


# The exits that are allowed while Linux and the cell are idle. Without x2APIC each write to the
# APIC exits. On VT-x CPUID always exits, and any Linux program may execute it. The cell is in
# x2APIC mode on all these machines. The driver calls once a second if the monitor owns the IOMMU.
IDLE: dict[str, dict[str, set[str]]] = {
        "x2apic": {"linux": {"icr", "hypercall"}, "quest": set()},
        "xapic": {"linux": {"xapic"}, "quest": set()},
        "intel": {"linux": {"xapic", "cpuid"}, "quest": set()}}


@on_machines("x2apic", slow=["xapic", "intel"])
def test_idle_cell_and_linux_cause_only_listed_exits(qv: Product, name: str) -> None:
    """Law 1: in steady state an idle cell causes no exit, and Linux exits only for its IPIs. (Early
    on Linux has more exits, since each region of memory is mapped at its first use.)"""
    def exiting(cell: str) -> set[str]:
        after = qv.ask(f"cell stats {cell}")["exits"]
        return {reason for reason in after if after[reason] > before[cell][reason]}

    qv.run_cell("quest", qv.cpus - 1)
    qv.quesh("uptime")
    time.sleep(1)  # waits until the command has ended
    for _ in range(3):
        begin = qv.uptime().guest
        before = {cell: qv.ask(f"cell stats {cell}")["exits"] for cell in IDLE[name]}
        beats = qv.show()["heartbeat"]
        time.sleep(IDLE_SECONDS)
        until(lambda b=beats: qv.show()["heartbeat"] >= b + 2 * IDLE_SECONDS, "it lives")  # type: ignore[misc]
        assert exiting("quest") <= IDLE[name]["quest"]
        calls = qv.ask("cell stats linux")["exits"].get("hypercall", 0) - before["linux"].get("hypercall", 0)
        most = qv.uptime().guest - begin + IDLE_SECONDS
        assert calls <= most, "one in a second of the machine's time, and the commands of this test"
        seen = exiting("linux")
        if seen <= IDLE[name]["linux"]:
            break
    assert seen <= IDLE[name]["linux"], "other exits in each of three periods"


@pytest.mark.slow
def test_late_cpu_fails_enable(qv: Product, deed: Deed) -> None:
    """A CPU keeps interrupts off during the rendezvous, so the other CPUs time out and back out. It
    does so for 16 s: long enough for two commands, but less than the 20 s after which Linux reports
    a lockup."""
    qv.sh("modprobe qv")
    said = qv.machine.run("""taskset -c 0 bash -c '
        echo 2 16000 >/sys/module/qvtouch/parameters/deaf
        qvctl enable; echo "status $?"; qvctl enable; echo "status $?"'""").out
    assert re.search(r"did not answer within 2000 ms, so all others backed out: 2\n.*\nstatus 1\n", said), said
    assert re.search(r"has still not come\n.*\nstatus 1\n$", said), said
    assert not qv.ask("status")["enabled"]
    assert qv.runs_on(2)  # waits until the CPU takes interrupts again
    qv.run_cell()
    assert qv.quesh("echo all there") == "all there\n"
