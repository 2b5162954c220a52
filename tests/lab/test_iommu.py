# SPDX-License-Identifier: GPL-2.0-only
"""The IOMMU under the monitor."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from devices import BEHIND_IOMMU, config, denied, given, run, unsafe
from product import CONFIGS, Product, module
from test_watching import until

HERE = Path(__file__).resolve().parent
EDU = "00:10.0"
QEMU = BEHIND_IOMMU
IDENTITY = pytest.mark.machine(iommu="intel", qemu_args=QEMU, boot_args=("iommu=pt",))
OFF = pytest.mark.machine(iommu="intel", qemu_args=QEMU, boot_args=("intel_iommu=off",))
AMD_IDENTITY = pytest.mark.machine(iommu="amd", qemu_args=QEMU, boot_args=("iommu=pt",))
AMD_TRANSLATED = pytest.mark.machine(iommu="amd", qemu_args=QEMU)
TRANSLATED = pytest.mark.machine(iommu="intel", qemu_args=QEMU)
SCALABLE = pytest.mark.machine(iommu="intel-scalable", qemu_args=QEMU)
SCALABLE_IDENTITY = pytest.mark.machine(iommu="intel-scalable", qemu_args=QEMU, boot_args=("iommu=pt",))
FIRST_STAGE = pytest.mark.machine(iommu="intel-first-stage", qemu_args=QEMU)
FIRST_STAGE_IDENTITY = pytest.mark.machine(iommu="intel-first-stage", qemu_args=QEMU, boot_args=("iommu=pt",))
LEGACY_ON_NEW = pytest.mark.machine(iommu="intel-scalable", qemu_args=QEMU, boot_args=("intel_iommu=on,sm_off",))
# Waits until the host answers a connection over the network interface: nothing listens there
ANSWERS = """
import socket
while True:
    try:
        socket.create_connection(("10.0.2.2", 9), 1)
        break
    except ConnectionRefusedError:
        break
    except OSError:
        pass
"""
NOTHING = {b.hex() for b in (b"NOTHING!" * 8, bytes(64), b"\xff" * 64)}


def edu(qv: Product, *words: str) -> list[str]:
    qv.machine.put(HERE / "inside/edu-dma", "/run/edu-dma")
    return qv.sh(f"python3 /run/edu-dma {EDU} {' '.join(words)}").split()


@contextlib.contextmanager
def hidden(qv: Product) -> Iterator[list[int]]:
    """Addresses of memory of the monitor and of cells: it reads as ones in Linux."""
    qv.machine.put(module("qvtouch", qv.machine.config.kernel), "/run/qvtouch.ko")
    qv.sh("insmod /run/qvtouch.ko")
    try:
        yield [int(word, 16) for word in qv.sh("cat /sys/module/qvtouch/parameters/ones").split()]
    finally:
        qv.sh("rmmod qvtouch")


def starts(qv: Product) -> list[str]:
    """Returns what the device reads at the start of each hidden page, without blanks and refusals."""
    with hidden(qv) as pages:
        assert len(pages) >= 5, "the front end's two, the cell's block, its memory"
        return [seen for seen in edu(qv, "read", *(f"{pa + at:x}" for pa in pages for at in (0, 0x10000)))
                if seen not in NOTHING]


def traffic(qv: Product) -> None:
    """The disk and the network interface, whose DMA passes the IOMMU, work."""
    qv.sh("modprobe nvme; modprobe e1000e; udevadm settle; "
          "timeout 60 sh -c 'until test -b /dev/nvme0n1; do sleep 0.2; done'")
    zeros = qv.sh("head -c 4194304 /dev/zero | sha256sum")
    assert qv.sh("dd if=/dev/nvme0n1 bs=64k count=64 skip=600 iflag=direct status=none | sha256sum") == zeros
    qv.sh("nic=$(basename $(ls -d /sys/bus/pci/devices/0000:00:12.0/net/*)); ip link set $nic up; "
          "ip addr replace 10.0.2.15/24 dev $nic; "
          f"timeout 50 python3 -c '{ANSWERS}'")


def wants_full(qv: Product) -> str:
    """The file of a cell that wants to be safe from the DMA of a hostile Linux."""
    qv.sh(f"sed 's/^name:.*/name: full/; s/^cpus:.*/cpus: [2]/; $adma-protection: full' {CONFIGS}/quest.yaml >/run/full.yaml")
    return "/run/full.yaml"


@pytest.mark.slow
@IDENTITY
def test_without_iommu_linux_reads_a_cell_by_dma(qv: Product) -> None:
    """The gap that --no-iommu leaves open: the level says so."""
    assert "level: DMA none" in qv.do("enable --no-iommu")
    assert "level: DMA none: QV was enabled with --no-iommu" in qv.do("log")
    qv.run_cell("quest")
    assert qv.ask("status")["dma_level"] == "none"
    assert "QV was enabled with --no-iommu" in qv.refused(f"cell create {wants_full(qv)}")
    assert starts(qv), "the attack of the other tests does not work at all"


def contained(qv: Product) -> None:
    traffic(qv)
    assert "level: DMA full" in qv.do("enable"), "it needs no option"
    assert qv.ask("status")["dma_level"] == "full"
    qv.run_cell("quest")
    edu(qv, "own")
    assert not starts(qv)
    with hidden(qv) as pages:
        edu(qv, "write", *(f"{pa + at:x}" for pa in pages for at in (0, 0x100000)))
    traffic(qv)
    assert "count" in qv.quesh("help"), "the cell lives"
    until(lambda: f"DMA of PCI function {0x80:#x} blocked" in qv.do("log"), "the driver's look at the units", 60)
    assert "level full" in qv.do("cell show quest")
    qv.do(f"cell create {wants_full(qv)}")
    assert (qv.show("full")["dma_level"], qv.show("full")["dma_protection"]) == ("full", "full")
    qv.do("cell destroy full")
    log = qv.do("log")
    assert "level: DMA full: devices of Linux reach memory and CPUs of Linux only" in log
    assert "interrupt of Linux refused" not in log, "Linux gets its interrupts, also those of CPUs that left"
    qv.do("cell destroy quest")
    traffic(qv)
    qv.do("disable")
    traffic(qv)
    edu(qv, "own")


@IDENTITY
@pytest.mark.slow
def test_dma_of_a_hostile_linux_is_contained(qv: Product) -> None:
    contained(qv)


@AMD_IDENTITY
def test_dma_of_a_hostile_linux_is_contained_by_amd_vi(qv: Product) -> None:
    contained(qv)


@pytest.mark.slow
@AMD_TRANSLATED
def test_devices_keep_their_tables_where_linux_translates_by_amd_vi(qv: Product) -> None:
    keeps_tables(qv)


@pytest.mark.slow
@OFF
def test_dma_is_contained_if_linux_leaves_translation_off(qv: Product) -> None:
    contained(qv)


@pytest.mark.slow
@IDENTITY
def test_iommu_is_taken_and_given_back_many_times(qv: Product) -> None:
    for _ in range(10):
        qv.do("enable --iommu")
        qv.run_cell("quest")
        traffic(qv)
        qv.do("cell destroy quest")
        qv.do("disable")
        traffic(qv)


@pytest.mark.slow
@IDENTITY
def test_unit_that_does_not_answer_fails_enable_with_iommu(qv: Product) -> None:
    qv.sh("modprobe qv test_iommu_silent=1")
    assert "a unit of the IOMMU does not answer the monitor" in qv.refused("enable --iommu")
    assert not qv.ask("status")["enabled"]
    traffic(qv)
    assert "a unit of the IOMMU does not answer the monitor" in qv.do("enable")
    assert qv.ask("status")["dma_level"] == "none"
    assert "DMA none: a unit of the IOMMU does not answer the monitor" in qv.do("log")
    traffic(qv)
    qv.do("disable")
    traffic(qv)
    qv.sh("echo 0 >/sys/module/qv/parameters/test_iommu_silent")
    qv.do("enable --iommu")
    assert qv.ask("status")["dma_level"] == "full"


@pytest.mark.slow
@IDENTITY
def test_disable_that_fails_says_that_the_level_has_fallen(qv: Product) -> None:
    """The units are Linux's again, but a CPU keeps interrupts off for 28 s and does not leave. The
    driver waits for 10 s, more on a loaded host."""
    qv.do("enable --iommu")
    qv.machine.put(module("qvtouch", qv.machine.config.kernel), "/run/qvtouch.ko")
    # Linux would report a CPU that is silent for 20 s
    qv.sh("echo 60 >/proc/sys/kernel/watchdog_thresh; echo 1 >/sys/module/rcupdate/parameters/rcu_cpu_stall_suppress")
    # all on CPU 0: on CPU 2 a command would only run after the 28 s
    said = qv.machine.run("""insmod /run/qvtouch.ko; taskset -c 0 bash -c '
        echo 2 28000 >/sys/module/qvtouch/parameters/deaf
        qvctl disable; echo "status $?"; qvctl --json status; qvctl log'""").out
    assert re.search(r"3 of 4 CPUs have left the monitor, but these did not answer within 10000 ms: 2\n"
                     r".*\nstatus 1\n", said), said
    assert '"enabled": true' in said and '"dma_level": "none"' in said, said
    assert '"dma_obstacle": "disable gave the IOMMU back to Linux"' in said, said
    assert "level: DMA none: disable gave the IOMMU back to Linux" in said, said
    assert qv.runs_on(2)  # waits until the CPU takes interrupts again
    qv.do("disable")
    qv.sh("rmmod qvtouch; echo 10 >/proc/sys/kernel/watchdog_thresh; "
          "echo 0 >/sys/module/rcupdate/parameters/rcu_cpu_stall_suppress")
    traffic(qv)


def keeps_tables(qv: Product) -> None:
    """Debian's default. A device that Linux lacks a table for reaches nothing."""
    traffic(qv)
    for _ in range(3):
        qv.do("enable --iommu")
        status = qv.ask("status")
        assert status["dma_level"] == "devices" and "iommu=pt" in status["dma_obstacle"]
        assert "level: DMA devices: devices of cells reach their cells only" in qv.do("log")
        traffic(qv)
        # Linux attaches the disk again
        qv.sh("cd /sys/bus/pci; echo 1 >devices/0000:00:11.0/remove; echo 1 >rescan")
        traffic(qv)
        assert "not protected from DMA" in qv.refused(f"cell create {wants_full(qv)}")
        qv.sh("sed -i 's/^dma-protection:.*/dma-protection: devices/' /run/full.yaml")
        qv.do("cell create /run/full.yaml --start")
        assert not starts(qv)
        traffic(qv)
        qv.do("cell destroy full")
        qv.do("disable")
        traffic(qv)


@pytest.mark.slow
@TRANSLATED
def test_devices_keep_their_tables_where_linux_translates(qv: Product) -> None:
    keeps_tables(qv)


# ---- a device of a cell ----

OWN, LINUX, BLANK = b"OWN MEMORY WORKS", b"LINUX'S OWN PAGE", {b"NOTHING!" * 2, bytes(16), b"\xff" * 16}


UNITS, INFO_PAGE = (0xfed80000, 0xfed90000), 0xb9000  # of AMD-Vi, of VT-d


def dma(place: str, reach: str) -> str:
    return f'{{pci: "{place}", dma: {reach}}}'


@contextlib.contextmanager
def linux_page(qv: Product) -> Iterator[int]:
    """A page of Linux that holds LINUX. Returns its physical address."""
    qv.machine.put(HERE / "inside/own-page", "/run/own-page.py")
    qv.sh("systemd-run --unit own-page python3 /run/own-page.py; "
          "timeout 20 sh -c 'until test -e /run/own-page; do sleep 0.1; done'")
    try:
        yield int(qv.sh("cat /run/own-page").split()[0], 16)
    finally:
        qv.sh("systemctl stop own-page; rm /run/own-page")


def held(qv: Product) -> bytes:
    """Returns what the page of Linux holds now."""
    return bytes.fromhex(qv.sh("sleep 0.5; cat /run/own-page").split()[1])


def cell_reads(qv: Product, pa: int) -> bytes:
    return bytes.fromhex(qv.quesh(f"edu read {pa:#x}"))


def reach(qv: Product) -> str:
    found: str = qv.show()["devices"][0]["dma"]
    return found


def reaches_cell_only(qv: Product, own: bool, address: bool = True) -> None:
    """`own`: a device of Linux without a driver reaches Linux's memory. `address`: the unit tells
    which address it blocked."""
    qv.do("enable --iommu")
    assert "cannot reach all memory" in qv.refused(f"cell create {given(qv, unsafe(EDU))}")
    qv.sh(f"sed 's/^name:.*/name: other/; s/^cpus:.*/cpus: [2]/' {CONFIGS}/quest.yaml >/run/other.yaml")
    qv.do("cell create /run/other.yaml --start")
    for wanted in ({"pci": EDU}, {"pci": EDU, "dma": "protected"}):
        run(qv, str(wanted).replace("'", '"'))
        assert reach(qv) == "protected" and "DMA to the cell's memory only" in qv.do("cell show quest")
        assert bytes.fromhex(qv.quesh("edu own")) == OWN
        assert qv.show()["devices"][0]["dma_blocked"] == 0
        with linux_page(qv) as pa, hidden(qv) as pages:
            assert pa >= 64 << 20 and len(pages) >= 7
            # The monitor; blocks and RAM of both cells, at physical addresses
            foreign = [page + 0x10000 for page in pages if page >= 64 << 20]
            said = f"DMA of PCI function {0x80:#x} blocked: it does not own the memory at {pa if address else 0:#x}"
            for at in (pa, *foreign, *UNITS, INFO_PAGE):
                assert cell_reads(qv, at) in BLANK, f"{at:#x}"
                qv.quesh(f"edu write {at:#x}")
                if at == pa:  # now: on a slow host, later lines move it out of the log
                    log = qv.sh("sleep 0.5; qvctl log")
                    assert said in log, log
            assert held(qv) == LINUX
        assert qv.show()["devices"][0]["dma_blocked"] > 0 and "blocked" in qv.do("cell show quest")
        assert bytes.fromhex(qv.quesh("edu own")) == OWN, "the cell lives, and its device works"
        traffic(qv)
        qv.do("cell destroy quest")
        if own:
            edu(qv, "own")
    assert qv.show("other")["state"] == "running"
    run(qv, dma(EDU, "off"))
    assert reach(qv) == "off"
    assert qv.quesh("edu own") == "the monitor refused it\n"
    qv.do("cell destroy quest")
    qv.do("cell destroy other")
    qv.do("disable")
    traffic(qv)
    if own:
        edu(qv, "own")


@pytest.mark.slow
@IDENTITY
def test_device_of_a_cell_reaches_the_cell_only(qv: Product) -> None:
    reaches_cell_only(qv, own=True)


@pytest.mark.slow
@AMD_IDENTITY
def test_device_of_a_cell_reaches_the_cell_only_by_amd_vi(qv: Product) -> None:
    """QEMU's unit does not tell addresses."""
    reaches_cell_only(qv, own=True, address=False)


@pytest.mark.slow
@TRANSLATED
def test_device_of_a_cell_reaches_the_cell_only_where_linux_translates(qv: Product) -> None:
    reaches_cell_only(qv, own=False)


@pytest.mark.slow
@SCALABLE_IDENTITY
def test_scalable_mode_contains_linux_and_devices_of_cells(qv: Product) -> None:
    contained(qv)
    reaches_cell_only(qv, own=True)


@pytest.mark.slow
@SCALABLE
def test_scalable_mode_keeps_tables_of_linux(qv: Product) -> None:
    keeps_tables(qv)
    reaches_cell_only(qv, own=False)


@pytest.mark.slow
@FIRST_STAGE_IDENTITY
def test_first_stage_contains_linux_and_devices_of_cells(qv: Product) -> None:
    """The monitor's tables have the format of the CPU's page tables: the unit knows no other."""
    contained(qv)
    reaches_cell_only(qv, own=True)


@pytest.mark.slow
@FIRST_STAGE
def test_first_stage_keeps_tables_of_linux(qv: Product) -> None:
    keeps_tables(qv)
    reaches_cell_only(qv, own=False)


@pytest.mark.slow
@LEGACY_ON_NEW
def test_legacy_mode_with_long_requests_keeps_tables_of_linux(qv: Product) -> None:
    """Linux uses requests of 32 bytes wherever the unit has a scalable mode."""
    keeps_tables(qv)


@pytest.mark.slow
@OFF
def test_device_is_not_confined_where_linux_has_no_groups(qv: Product) -> None:
    qv.do("enable --no-iommu")
    assert "does not own the IOMMU" in qv.refused(f"cell create {given(qv, dma(EDU, 'protected'))}")
    qv.do("disable")
    qv.do("enable --iommu")
    assert "iommu=pt" in qv.refused(f"cell create {given(qv, dma(EDU, 'protected'))}")
    run(qv, f'{{pci: "{EDU}"}}')
    assert reach(qv) == "off"
    assert qv.quesh("edu own") == "the monitor refused it\n"


# ---- messages of a cell's device ----

NIC, OTHER = "00:12.0", "00:13.0"
TWO = (*QEMU, "-device", "edu,dma_mask=0xffffffff,addr=13.0")
MESSAGES = pytest.mark.machine(iommu="intel", qemu_args=TWO, boot_args=("iommu=pt",))
AMD_MESSAGES = pytest.mark.machine(iommu="amd", qemu_args=TWO, boot_args=("iommu=pt",))
# Linux remaps interrupts and is in xAPIC mode
XAPIC = pytest.mark.machine(qemu_args=("-device", "intel-iommu,intremap=on,eim=off", *TWO),
                            boot_args=("iommu=pt",))
EDU_BDF, VECTOR, REMAPPED = 0x80, 0x50, 0x10
# Registers of e1000e: the message of its sending queue 0; causes that are pending (a read clears
# them), allowed, requested
IVAR, CAUSES, IMS, ICS, QUEUE = 0xE4, 0xC0, 0xD0, 0xC8, 1 << 22


def bar(qv: Product, number: int, device: int) -> int:
    """Returns the address of a memory BAR of the cell's device with this number in its list."""
    found = re.findall(rf"bar {number}: memory ([0-9a-f]+),", qv.quesh("pci"))
    return int(found[device], 16)


def store(qv: Product, at: int, value: int) -> int:
    return int(qv.quesh(f"pcitest store {at:#x} {value:#x}"), 16)


def forge(qv: Product, address: int, bad: tuple[int, ...]) -> None:
    """The cell tries to name CPUs of Linux, of another cell, all, and entries of others."""
    before = denied(qv, "quest")
    for value in bad:
        for how in ("set", "portset"):
            assert config(qv, f"{how} {EDU_BDF} 0x44 4 {value:#x}") == address, f"{value:#x}"
    assert config(qv, f"set {EDU_BDF} 0x45 1 0x20") == address >> 8 & 0xff
    assert config(qv, f"set {EDU_BDF} 0x48 4 1") == 0
    for value in (0x1f, 0x450, 0x8050):
        assert config(qv, f"set {EDU_BDF} 0x4c 4 {value:#x}") == VECTOR
    assert denied(qv, "quest") - before == 2 * len(bad) + 5


def message_of_table(qv: Product, remapped: bool) -> None:
    assert qv.quesh("pcitest msix 1 1") == "on\n"
    registers, table = bar(qv, 0, 1), bar(qv, 3, 0) + 16
    address = int(qv.quesh(f"pcitest load {table:#x}"), 16)
    assert bool(address & REMAPPED) == remapped
    for value in (0xfee00000, 0xfee02000, *((address, address + 0x2000) if remapped else ())):
        assert store(qv, table, value) == address
    assert store(qv, table + 4, 1) == 0
    assert store(qv, table + 8, 0x450) == VECTOR
    store(qv, registers + IVAR, (1 | 8) << 8)
    store(qv, registers + IMS, QUEUE)
    for _ in range(3):
        before = int(qv.quesh("pcitest messages"))
        store(qv, registers + ICS, QUEUE)
        assert int(qv.quesh("pcitest messages")) > before
        qv.quesh(f"pcitest load {registers + CAUSES:#x}")


def blocked(qv: Product, place: str, index: int) -> None:
    """A device of Linux sends messages by an entry of the table, and none arrives."""
    qv.machine.put(HERE / "inside/edu-dma", "/run/edu-dma")
    qv.sh(f"python3 /run/edu-dma {place} interrupt {index:x} 20; sleep 1.5")
    bdf = int(place[3:5], 16) << 3
    assert f"interrupt of PCI function {bdf:#x} blocked: it may not use entry {index}" in qv.do("log")


def messages_arrive(qv: Product) -> None:
    qv.do("enable --iommu")
    qv.sh(f"sed 's/^name:.*/name: other/; s/^cpus:.*/cpus: [2]/' {CONFIGS}/quest.yaml >/run/other.yaml")
    qv.do("cell create /run/other.yaml --start")
    for _ in range(2):
        run(qv, dma(EDU, "protected"), dma(NIC, "protected"))
        assert all(device["messages"] for device in qv.show()["devices"])
        assert qv.quesh("edu count") == "0\n"
        for _ in range(3):
            assert qv.quesh("edu msi") == "interrupts=1\n"
        address = config(qv, f"get {EDU_BDF} 0x44 4")
        assert address & REMAPPED and config(qv, f"get {EDU_BDF} 0x4c 4") == VECTOR
        forge(qv, address, (0xfee00000, 0xfee02000, 0xfeeff000, 0xfee03004, 0xfee00010,
                            address, address + 0x2000, address - 0x2000))
        assert config(qv, f"set {EDU_BDF} 0x4c 4 0x150") == VECTOR, "the vector alone is written"
        message_of_table(qv, remapped=True)
        index = (address >> 5 & 0x7fff) + VECTOR
        blocked(qv, OTHER, index)
        assert qv.quesh("edu count") == "3\n"
        assert qv.quesh("edu msi") == "interrupts=1\n"
        qv.do("cell destroy quest")
        blocked(qv, EDU, index)
    assert qv.show("other")["state"] == "running"
    qv.do("cell destroy other")
    qv.do("disable")
    traffic(qv)


@pytest.mark.slow
@MESSAGES
def test_messages_of_a_cells_devices_reach_the_cell_only(qv: Product) -> None:
    messages_arrive(qv)


@pytest.mark.slow
@XAPIC
def test_messages_reach_the_cell_where_linux_is_in_xapic_mode(qv: Product) -> None:
    messages_arrive(qv)


@pytest.mark.slow
@AMD_MESSAGES
def test_messages_reach_the_cell_by_amd_vi(qv: Product) -> None:
    """A message of a cell stays as the cell wrote it, since each function has its own entries."""
    qv.do("enable --iommu")
    qv.sh(f"sed 's/^cpus:.*/cpus: [2, 3]/' {given(qv, dma(EDU, 'protected'))} >/run/two.yaml")
    assert "one CPU" in qv.refused("cell create /run/two.yaml")
    for _ in range(2):
        run(qv, dma(EDU, "protected"), dma(NIC, "protected"))
        assert all(device["messages"] for device in qv.show()["devices"])
        for _ in range(3):
            assert qv.quesh("edu msi") == "interrupts=1\n"
        address = config(qv, f"get {EDU_BDF} 0x44 4")
        assert address & REMAPPED == 0 and config(qv, f"get {EDU_BDF} 0x4c 4") == VECTOR
        forge(qv, address, (0xfee00000, 0xfee02000, 0xfeeff000, 0xfee03004, 0xfee00010, 0xfee01000))
        assert config(qv, f"set {EDU_BDF} 0x4c 4 0x150") == 0x150
        message_of_table(qv, remapped=False)
        qv.machine.put(HERE / "inside/edu-dma", "/run/edu-dma")
        qv.sh(f"python3 /run/edu-dma {OTHER} message fee03000 {VECTOR:x}; sleep 1.5")
        assert qv.quesh("edu count") == "3\n"
        qv.do("cell destroy quest")
        edu(qv, "own")
    qv.do("disable")
    traffic(qv)
