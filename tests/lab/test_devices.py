# SPDX-License-Identifier: GPL-2.0-only
"""PCI functions of cells: given to a cell, used, filtered, and returned to their Linux drivers."""

import re
from pathlib import Path

import pytest

from badimage import image
from product import CONFIGS, HERE, TEST_IMAGE, Product, module

QEMU = ("-device", "edu,addr=10.0", "-device", "virtio-rng-pci,addr=11.0", "-device", "pci-serial,addr=12.0",
        "-device", "pcie-root-port,id=above,chassis=1,addr=13.0", "-device", "edu,bus=above",
        "-device", "pcie-root-port,id=beside,chassis=2,addr=14.0",
        "-drive", "if=none,id=spare,file.driver=null-co,file.size=67108864,file.read-zeroes=on,snapshot=on",
        "-device", "virtio-blk-pci,drive=spare,addr=15.0", "-device", "virtio-net-pci,addr=16.0")
EDU, RNG, SERIAL, DISK, NIC = "00:10.0", "00:11.0", "00:12.0", "00:15.0", "00:16.0"
ABOVE, BESIDE = "00:13.0", "00:14.0"  # a bridge with a function behind it, and one without
EDU_BDF, RNG_BDF, SERIAL_BDF = 0x80, 0x88, 0x90
EDU_ID = "10000ed"
CELL_APIC = 3  # APIC id of the only CPU in configs/quest.yaml
PIIX = 0xf8  # 00:1f.0, a bridge
XAPIC = pytest.mark.machine(qemu_args=QEMU)
X2APIC = pytest.mark.machine(qemu_args=QEMU, iommu="intel")

pytestmark = XAPIC


def given(qv: Product, *devices: str, more: str = "") -> str:
    """Writes a configuration with these devices. Returns its path in the machine."""
    path = "/run/devices.yaml"
    lines = "".join(f"  - {device}\\n" for device in devices)
    qv.sh(f"sed 's/^image:.*/image: {TEST_IMAGE}/' {CONFIGS}/quest.yaml >{path}; printf 'devices:\\n{lines}{more}' >>{path}")
    return path


def off(place: str) -> str:
    return f'{{pci: "{place}", dma: off}}'


def unsafe(place: str) -> str:
    return f'{{pci: "{place}", unsafe-dma: true}}'


def run(qv: Product, *devices: str) -> None:
    qv.do(f"cell create {given(qv, *devices)} --start")


def denied(qv: Product, name: str) -> int:
    return sum(cpu["denied"] for cpu in qv.ask(f"cell stats {name}")["cpus"])


def config(qv: Product, words: str) -> int:
    """Runs `pcitest get|set|portget|portset ...` in the cell's shell. Returns the value it prints."""
    return int(qv.quesh(f"pcitest {words}"), 16)


def driver(qv: Product, place: str) -> str:
    return qv.sh(f"readlink /sys/bus/pci/devices/0000:{place}/driver || true").strip().rpartition("/")[2]


def config_of_linux(qv: Product, place: str) -> str:
    return qv.sh(f"xxd -p -l 64 /sys/bus/pci/devices/0000:{place}/config 2>/dev/null || "
                 f"od -v -An -tx1 -N64 /sys/bus/pci/devices/0000:{place}/config").strip()


def resource(qv: Product, place: str, write: str = "") -> str:
    """Returns the first dword of BAR 0 as a Linux program reads it, after the Python line `write`."""
    return qv.sh(f"""python3 -c "
import mmap, os, struct
f = os.open('/sys/bus/pci/devices/0000:{place}/resource0', os.O_RDWR)
m = memoryview(mmap.mmap(f, 4096)).cast('I')
{write}
print('%x' % m[0])" """).strip()


def test_device_registers_and_pin_work_in_cell(qv: Product) -> None:
    qv.sh(f"echo 1 >/sys/bus/pci/devices/0000:{EDU}/enable")
    before = config_of_linux(qv, EDU)
    run(qv, off(EDU))
    assert qv.quesh("edu id") == "id 010000ed, live edcba987\n"
    assert qv.quesh("edu fact 5") == "120\n"
    for _ in range(3):  # level-triggered: each interrupt needs an EOI at the IOAPIC
        assert qv.quesh("edu irq") == "interrupts=1\n"
    shown = qv.show()["devices"]
    assert shown == [{"pci": EDU, "unsafe_dma": False, "pin": True, "messages": False, "reset": False}]
    assert driver(qv, EDU) == "qv-cell"
    qv.do("cell destroy quest")
    assert config_of_linux(qv, EDU) == before
    assert driver(qv, EDU) == ""
    assert resource(qv, EDU) == EDU_ID


def test_device_registers_cause_no_exit(qv: Product) -> None:
    """Law 1: the cell reaches the device's registers and reads its config space without an exit."""
    run(qv, off(EDU))
    qv.quesh("edu id")
    before = qv.ask("cell stats quest")["cpus"][0]["exits"]
    qv.quesh("edu fact 9")
    for _ in range(5):
        qv.quesh(f"pcitest get {EDU_BDF} 0 4")
    after = qv.ask("cell stats quest")["cpus"][0]["exits"]
    assert after["port"] == before["port"]
    assert after["memory"] - before["memory"] == 1, "more than the one write to the command register"


@X2APIC
def test_interrupt_remapping_disconnects_pin(qv: Product) -> None:
    run(qv, off(EDU))
    assert qv.quesh("edu id") == "id 010000ed, live edcba987\n"
    assert qv.quesh("edu irq") == "its pin is not connected\n"
    assert not qv.show()["devices"][0]["pin"]
    assert "no-messages" in qv.quesh("pci")
    before = denied(qv, "quest")
    for how in ("set", "portset"):
        # The interrupt line belongs to Linux or is shared with its devices, so it stays disabled
        assert config(qv, f"{how} {EDU_BDF} 4 2 0x003") == 0x403
    assert denied(qv, "quest") - before == 2


def test_linux_cannot_rewrite_ioapic_entry_of_cell(qv: Product) -> None:
    """Linux writes to the entry by its index and by aliases of it: the IOAPIC decodes 8 index bits."""
    qv.machine.put(module("qvtouch", qv.machine.config.kernel), "/run/qvtouch.ko")
    qv.sh("insmod /run/qvtouch.ko")

    def entry(index: int, *value: int) -> int:
        text = " ".join(f"{n:x}" for n in (index, *value))
        return int(qv.sh(f"cd /sys/module/qvtouch/parameters; taskset -c 0 bash -c 'echo {text} >ioapic'; cat value"))

    run(qv, off(EDU))
    assert qv.quesh("edu irq") == "interrupts=1\n"
    vector = int(re.search(r"vector (\w+)", qv.quesh("pci")).group(1), 0)
    mine = [index for index in range(0x10, 0x40, 2) if entry(index) & 0x108FF == vector and entry(index + 1) >> 24 == CELL_APIC]
    assert len(mine) == 1, [(hex(entry(index)), hex(entry(index + 1))) for index in range(0x10, 0x40, 2)]
    was, before = entry(mine[0]), denied(qv, "linux")
    for above in (0, 0x100, 0x8000, 0xFFFFFF00):
        entry(above | mine[0], 0x10000 | vector)
        entry(above | mine[0] + 1, 0)
        assert (entry(mine[0]) & ~0x5000, entry(mine[0] + 1) >> 24) == (was & ~0x5000, CELL_APIC), hex(above)
    assert denied(qv, "linux") - before == 8
    assert qv.quesh("edu irq") == "interrupts=1\n"
    qv.sh("rmmod qvtouch")


def test_unsafe_dma_is_reported_and_allows_msi(qv: Product) -> None:
    path = given(qv, unsafe(EDU))
    assert "warning: unsafe-dma: 00:10.0" in qv.do(f"config check {path}")
    run(qv, unsafe(EDU))
    assert f"{EDU}!UNSAFE-DMA" in qv.do("cell list")
    assert "UNSAFE-DMA" in qv.do("cell show quest")
    assert "unsafe-dma: PCI function 0000:00:10.0" in qv.do("log")
    assert qv.quesh("edu msi") == "interrupts=1\n"
    assert qv.quesh("edu irq") == "interrupts=1\n", "the pin does not work after the MSI"


def test_dma_off_denies_bus_mastering_and_msi(qv: Product) -> None:
    run(qv, off(EDU))
    assert qv.quesh("edu msi") == "the monitor refused it\n"
    assert config(qv, f"set {EDU_BDF} 4 2 0x407") == 0x403
    assert config(qv, f"portset {EDU_BDF} 4 2 0x407") == 0x403
    assert config(qv, f"set {EDU_BDF} 4 1 0x07") & 4 == 0
    assert denied(qv, "quest") >= 3


def test_msi_reaches_own_cpus_only(qv: Product) -> None:
    """The MSI capability of EDU is at 0x40: address at 0x44, its upper half at 0x48, data at 0x4c."""
    run(qv, unsafe(EDU))
    qv.quesh("edu msi")
    good = config(qv, f"get {EDU_BDF} 0x44 4")
    assert good == 0xfee03000, "not the address of CPU 3"
    for bad in (0xfee00000, 0xfee01000, 0xfeeff000, 0xfee03004, 0xfee03008, 0x00003000, 0xfee03010):
        assert config(qv, f"set {EDU_BDF} 0x44 4 {bad:#x}") == good, f"{bad:#x}"
        assert config(qv, f"portset {EDU_BDF} 0x44 4 {bad:#x}") == good, f"{bad:#x}"
    assert config(qv, f"set {EDU_BDF} 0x45 1 0x10") == good >> 8 & 0xff, "a byte write got through"
    assert config(qv, f"set {EDU_BDF} 0x48 4 1") == 0
    data = config(qv, f"get {EDU_BDF} 0x4c 2")
    for bad in (0x1f, 0x200, 0x250, 0x450, 0x550, 0x750, 0x8050):  # exceptions; SMI, NMI, INIT, ExtINT; level
        assert config(qv, f"set {EDU_BDF} 0x4c 2 {bad:#x}") == data, f"{bad:#x}"
    assert config(qv, f"set {EDU_BDF} 0x42 2 0x0071") & 0x70 == 0, "eight messages instead of one"
    assert qv.quesh("edu msi") == "interrupts=1\n"
    assert denied(qv, "quest") >= 20


def test_msix_entry_reaches_own_cpus_only(qv: Product) -> None:
    run(qv, unsafe(RNG))
    assert qv.quesh("pcitest msix 0 0") == "on\n"
    listing = qv.quesh("pci")
    cap = next(at for at in range(0x40, 0x100, 4)
               if config(qv, f"get {RNG_BDF} {at} 1") == 0x11 and config(qv, f"get {RNG_BDF} {at + 4} 4") & 7 == 1)
    found = re.search(r"bar 1: memory ([0-9a-f]+),", listing)
    assert found, listing
    table = int(found[1], 16) + (config(qv, f"get {RNG_BDF} {cap + 4} 4") & ~7)
    # The first one is the kernel's text, which `pcitest load` would map a second time
    for address in ("0x100000", "0x3ffffffffffc", hex(int(found[1], 16) - 4)):
        assert "not in a memory BAR" in qv.quesh(f"pcitest load {address}")
    assert int(qv.quesh(f"pcitest load {table:#x}"), 16) == 0xfee03000
    assert int(qv.quesh(f"pcitest store {table:#x} 0xfee00000"), 16) == 0xfee03000
    assert int(qv.quesh(f"pcitest store {table + 4:#x} 1"), 16) == 0
    assert int(qv.quesh(f"pcitest store {table + 8:#x} 0x450"), 16) == 0x50
    assert int(qv.quesh(f"pcitest store {table + 8:#x} 0x51"), 16) == 0x51
    assert int(qv.quesh(f"pcitest store {table + 12:#x} 1"), 16) == 1
    assert int(qv.quesh(f"pcitest store {table + 16:#x} 0xfee00000"), 16) == 0xfee03000, "the next entry is not checked"
    assert denied(qv, "quest") == 4


def test_foreign_config_space_reads_as_ones(qv: Product) -> None:
    """Functions of other owners seem absent: reads give ones, writes are dropped and counted. The
    cell continues to run, and the devices of Linux do not change."""
    bridge, disk = config_of_linux(qv, "00:1f.0"), config_of_linux(qv, "00:02.0")
    run(qv, off(EDU))
    before = denied(qv, "quest")
    for bdf in (0, 0x10, PIIX, RNG_BDF, 0x100, 0xffff):
        assert config(qv, f"get {bdf} 0 4") == 0xffffffff
        assert config(qv, f"portget {bdf} 0 4") == 0xffffffff
        assert config(qv, f"portget {bdf} 1 1") == 0xff
        assert config(qv, f"set {bdf} 4 2 0") == 0xffff
        assert config(qv, f"portset {bdf} 0x3e 2 0x40") == 0xffff
    assert denied(qv, "quest") - before == 12
    assert qv.show()["state"] == "running"
    assert (config_of_linux(qv, "00:1f.0"), config_of_linux(qv, "00:02.0")) == (bridge, disk)


def test_own_config_space_is_filtered(qv: Product) -> None:
    """By ECAM and by ports, in bytes, words and dwords. BARs cannot be moved."""
    run(qv, off(EDU))
    assert config(qv, f"portget {EDU_BDF} 0 4") == config(qv, f"get {EDU_BDF} 0 4") == 0x11e81234
    assert config(qv, f"portget {EDU_BDF} 2 2") == config(qv, f"get {EDU_BDF} 2 2") == 0x11e8
    assert config(qv, f"portget {EDU_BDF} 3 1") == config(qv, f"get {EDU_BDF} 3 1") == 0x11
    bar = config(qv, f"get {EDU_BDF} 0x10 4")
    for how in ("set", "portset"):
        for value in (0, 0xffffffff, 0xb0000000):
            assert config(qv, f"{how} {EDU_BDF} 0x10 4 {value:#x}") == bar
        assert config(qv, f"{how} {EDU_BDF} 0x13 1 0") == bar >> 24
        # The interrupt line register has no effect on hardware, so it may be written
        assert config(qv, f"{how} {EDU_BDF} 0x3c 1 7") == 7
        assert config(qv, f"{how} {EDU_BDF} 0x3c 1 9") == 9
        assert config(qv, f"{how} {EDU_BDF} 0x0f 1 0x40") == 0, "the self-test was started"
        assert config(qv, f"{how} {EDU_BDF} 4 2 0x3") & 3 == 3
    assert qv.quesh("edu fact 4") == "24\n"


@pytest.mark.parametrize("line, port", [("pcitest out 0xcf9 0", 0xcf9), ("pcitest in 0xcfb", 0xcfb), ("pcitest in 0x64", 0x64)])
def test_port_next_to_config_space_fails_cell(qv: Product, line: str, port: int) -> None:
    run(qv, off(EDU))
    qv.machine.run(["quesh", "quest", "-t", "3", "-c", line], 20)
    cell = qv.show()
    assert (cell["state"], cell["failure"]["reason"], cell["failure"]["address"]) == ("failed", "port", f"{port:#x}")


def with_ports(qv: Product, name: str, cpu: int, ports: str) -> str:
    """Writes a configuration with these ports and no device. Returns its path in the machine."""
    path = f"/run/{name}.yaml"
    qv.sh(f"sed 's/^name:.*/name: {name}/; s/^cpus:.*/cpus: [{cpu}]/; s/^image:.*/image: {TEST_IMAGE}/' {CONFIGS}/quest.yaml >{path}; "
          f"echo 'ports: [{ports}]' >>{path}")
    return path


def first_port(qv: Product, place: str) -> int:
    return int(qv.sh(f"head -1 /sys/bus/pci/devices/0000:{place}/resource").split()[0], 16)


def scratch(qv: Product, port: int, value: int | None = None) -> int:
    """Linux writes the value, if given, to a port. Returns the byte that Linux then reads there."""
    write = "" if value is None else f"f.write(bytes([{value}])); f.seek({port});"
    return int(qv.sh(f"""python3 -c "
f = open('/dev/port', 'r+b', buffering=0); f.seek({port}); {write} print(f.read(1)[0])" """))


def test_port_of_another_cell_is_refused(qv: Product) -> None:
    """A listed port overlaps the I/O BAR or the listed ports of another cell, in either order of
    creation. `config check` finds the overlap before a cell exists."""
    port = first_port(qv, SERIAL)
    device = given(qv, off(SERIAL))
    lister, other = with_ports(qv, "lister", 2, f"{port:#x}"), with_ports(qv, "other", 1, f"{port:#x}-{port + 1:#x}")
    checked = qv.qvctl(f"config check {device} {lister}")
    assert checked.rc == 2 and f"{port:#x} overlaps {port:#x}-{port + 7:#x} of {SERIAL} of quest" in checked.out + checked.err
    qv.do(f"cell create {device}")
    assert "overlap ports of cell 'quest'" in qv.refused(f"cell create {lister}")
    qv.do("cell destroy quest")
    qv.do(f"cell create {lister}")
    assert "overlap ports of cell 'lister'" in qv.refused(f"cell create {device}")
    assert driver(qv, SERIAL) == "serial"
    assert "overlap ports of cell 'lister'" in qv.refused(f"cell create {other}")
    qv.do("cell destroy lister")


def test_listed_ports_are_denied_to_linux(qv: Product) -> None:
    """From start to destroy, only the cell can read the scratch register of a serial port."""
    port = first_port(qv, SERIAL) + 7
    path = with_ports(qv, "quest", 3, f"{port:#x}")
    qv.do(f"cell create {path}")
    assert scratch(qv, port, 0x5a) == 0x5a
    qv.do("cell start quest")
    before = denied(qv, "linux")
    assert scratch(qv, port, 0x33) == 0xff
    assert denied(qv, "linux") - before == 2
    assert f"Linux used port {port:#x}, which is not its own" in qv.do("log")
    assert qv.quesh(f"pcitest in {port:#x}") == "5a\n"
    qv.do("cell shutdown quest")
    assert scratch(qv, port) == 0xff
    qv.do("cell destroy quest")
    assert scratch(qv, port, 0x77) == 0x77


def test_linux_access_to_given_device_is_denied_and_counted(qv: Product) -> None:
    """Linux reads and writes config space, registers and ports of a device that a cell has. Reads
    give ones, writes are dropped, each is counted."""
    qv.sh(f"echo 1 >/sys/bus/pci/devices/0000:{EDU}/enable")
    run(qv, off(EDU), off(SERIAL))
    qv.quesh("edu id")
    before = denied(qv, "linux")
    assert set(config_of_linux(qv, EDU).replace(" ", "").replace("\n", "")) == {"f"}
    qv.sh(f"""python3 -c "
import os
f = os.open('/sys/bus/pci/devices/0000:{EDU}/config', os.O_RDWR)
os.pwrite(f, bytes(2), 4)
os.pwrite(f, bytes(4), 0x10)" """)
    assert resource(qv, EDU) == "ffffffff"
    resource(qv, EDU, "m[0x60 // 4] = 1")
    base = int(qv.sh(f"head -1 /sys/bus/pci/devices/0000:{SERIAL}/resource").split()[0], 16)
    assert qv.sh(f"""python3 -c "
f = open('/dev/port', 'r+b', buffering=0)
f.seek({base + 7}); f.write(bytes([0x5a])); f.seek({base + 7}); print(f.read(1)[0])" """).strip() == "255"
    assert denied(qv, "linux") - before >= 20
    assert qv.quesh("edu fact 3") == "6\n"
    assert config(qv, f"get {EDU_BDF} 0x10 4") != 0
    assert config(qv, f"set {SERIAL_BDF} 4 2 1") == 1
    assert qv.quesh(f"pcitest out {base + 7:#x} 0x5a") == "5a\n", "the cell cannot use the scratch register"
    qv.do("cell destroy quest")
    assert resource(qv, EDU) == EDU_ID


def config_words(qv: Product, place: str, *writes: tuple[int, int, int]) -> list[int]:
    """Linux writes each (register, bytes, value) to a function's config space. Returns the value that
    Linux reads there after each write."""
    said = qv.sh(f"""python3 -c "
import os
f = os.open('/sys/bus/pci/devices/0000:{place}/config', os.O_RDWR)
for at, size, value in {list(writes)}:
    os.pwrite(f, value.to_bytes(size, 'little'), at)
    print(int.from_bytes(os.pread(f, size, at), 'little'))" """)
    return [int(line) for line in said.split()]


def read_config(qv: Product, place: str, *registers: tuple[int, int]) -> list[int]:
    """Returns the value that Linux reads from each (register, bytes) of a function's config space."""
    said = qv.sh(f"""python3 -c "
import os
f = os.open('/sys/bus/pci/devices/0000:{place}/config', os.O_RDONLY)
for at, size in {list(registers)}:
    print(int.from_bytes(os.pread(f, size, at), 'little'))" """)
    return [int(line) for line in said.split()]


def capability(qv: Product, place: str, wanted: int) -> int:
    at = read_config(qv, place, (0x34, 1))[0]
    while at:
        head = read_config(qv, place, (at, 2))[0]
        if head & 0xff == wanted:
            return at
        at = head >> 8
    raise AssertionError(f"{place} has no capability {wanted:#x}")


def test_bridge_above_given_function_is_frozen(qv: Product) -> None:
    """Linux cannot change the bridge's buses, windows, reset, link and slot. The function keeps its
    address and gets no bus mastering. (QEMU's bridge has no power states: test_pci_guard.c has.)"""
    bus = read_config(qv, ABOVE, (0x19, 1))[0]
    place = f"{bus:02x}:00.0"
    qv.sh(f"echo 1 >/sys/bus/pci/devices/0000:{place}/enable")
    express = capability(qv, ABOVE, 0x10)
    places = [(0x18, 4), (0x1c, 2), (0x20, 4), (0x24, 4), (0x04, 2), (0x3e, 2), (express + 0x10, 2), (express + 0x18, 2)]
    was = read_config(qv, ABOVE, *places)
    flips = (0x00050500, 0x1010, 0x00100010, 0x00100010, 0x6, 0x40, 0x10, 0x400)
    writes = [(at, size, old ^ flip) for (at, size), old, flip in zip(places, was, flips, strict=True)]
    run(qv, off(place))
    assert qv.quesh("edu id") == "id 010000ed, live edcba987\n"
    before = denied(qv, "linux")
    assert config_words(qv, ABOVE, *writes) == was
    assert denied(qv, "linux") - before == len(writes)
    assert re.search(r"PCI config access \(function and register 0x98018\) refused", qv.do("log"))
    [line] = read_config(qv, ABOVE, (0x3c, 1))
    # Linux may write registers that move nothing
    assert config_words(qv, ABOVE, (0x3c, 1, line ^ 1), (0x3c, 1, line)) == [line ^ 1, line]
    [beside] = read_config(qv, BESIDE, (0x18, 4))
    assert config_words(qv, BESIDE, (0x18, 4, beside & 0xff0000ff | bus << 8 | bus << 16)) == [
        beside], "another bridge took the bus"
    assert qv.quesh("edu fact 5") == "120\n"
    assert config(qv, f"get {bus << 8} 4 2") & 4 == 0
    qv.do("cell destroy quest")
    assert config_words(qv, ABOVE, (0x24, 4, was[3] ^ flips[3]), (0x24, 4, was[3])) == [was[3] ^ flips[3], was[3]]


def test_linux_bar_cannot_overlap_cell(qv: Product) -> None:
    """A BAR can be moved only while decoding is off. Decoding can be turned on again only if the BAR
    overlaps no memory of a cell and no RAM."""
    run(qv, off(EDU))
    target = int(qv.sh(f"head -1 /sys/bus/pci/devices/0000:{EDU}/resource").split()[0], 16)
    command, bar = read_config(qv, RNG, (0x04, 2), (0x14, 4))
    before = denied(qv, "linux")
    assert config_words(qv, RNG, (0x14, 4, target)) == [bar]
    assert config_words(qv, RNG, (0x04, 2, command & ~3), (0x14, 4, target), (0x04, 2, command)) == [command & ~3, target, command & ~3]
    assert denied(qv, "linux") - before == 2
    assert qv.quesh("edu fact 4") == "24\n"
    assert config_words(qv, RNG, (0x14, 4, 0x100000), (0x04, 2, command)) == [
        0x100000, command & ~3], "a BAR covers RAM"
    assert config_words(qv, RNG, (0x14, 4, bar), (0x04, 2, command)) == [bar, command]


def test_linux_drivers_return_after_destroy(qv: Product) -> None:
    had = {place: driver(qv, place) for place in (RNG, SERIAL)}
    assert had[RNG] == "virtio-pci" and had[SERIAL] == "serial"
    for _ in range(3):
        run(qv, off(EDU), unsafe(RNG), off(SERIAL))
        assert {driver(qv, place) for place in (EDU, RNG, SERIAL)} == {"qv-cell"}
        qv.do("cell destroy quest")
        assert {place: driver(qv, place) for place in (RNG, SERIAL)} == had
    qv.sh(f"ls -d /sys/bus/pci/devices/0000:{RNG}/virtio*")  # the driver has bound the device again


def test_failed_create_returns_devices(qv: Product, tmp_path: Path) -> None:
    path = given(qv, unsafe(RNG), off(SERIAL))
    (tmp_path / "bad.elf").write_bytes(image("beyond"))
    qv.machine.put(tmp_path / "bad.elf", "/run/bad.elf")
    qv.sh(f"sed -i 's,^image:.*,image: /run/bad.elf,' {path}")
    assert "cannot be loaded" in qv.refused(f"cell create {path}")
    assert (driver(qv, RNG), driver(qv, SERIAL)) == ("virtio-pci", "serial")
    path = given(qv, unsafe(RNG), off("00:1f.0"))  # the second function is refused
    assert "is a bridge" in qv.refused(f"cell create {path}")
    assert driver(qv, RNG) == "virtio-pci"


def test_restart_resets_device(qv: Product) -> None:
    run(qv, off(EDU))
    qv.machine.run("quesh quest -t 3 -c 'crash memory'", 20)
    assert qv.show()["state"] == "failed"
    qv.do("cell start quest")
    assert qv.quesh("edu fact 5") == "120\n"
    assert qv.quesh("edu irq") == "interrupts=1\n"


def test_unusable_function_is_refused(qv: Product) -> None:
    assert "is a bridge" in qv.refused(f"cell create {given(qv, off('00:1f.0'))}")
    none = qv.qvctl(f"cell create {given(qv, off('00:1e.0'))}")
    assert none.rc == 2 and "there is no PCI function 00:1e.0 here" in none.err
    bare = qv.qvctl(f"""cell create {given(qv, '{pci: "00:10.0"}')}""")
    assert bare.rc == 2 and "`dma: off`" in bare.err and "`unsafe-dma: true`" in bare.err
    run(qv, off(EDU))
    qv.sh("sed 's/^name:.*/name: other/; s/^cpus:.*/cpus: [2]/' /run/devices.yaml >/run/other.yaml")
    assert "belongs to another cell" in qv.refused("cell create /run/other.yaml")
    assert qv.quesh("edu fact 3") == "6\n"


def test_device_survives_20_create_destroy_rounds(qv: Product) -> None:
    qv.do("enable")
    for _ in range(20):
        run(qv, off(EDU), unsafe(RNG))
        assert qv.quesh("edu irq") == "interrupts=1\n"
        qv.do("cell destroy quest")
        assert driver(qv, RNG) == "virtio-pci"


def test_mounted_disk_is_refused(qv: Product) -> None:
    """The disk with the root file system. `devices`, `config check` and `cell create` give the same
    reason, and nothing changes."""
    place = "00:02.0"
    state = next(d for d in qv.ask("devices")["devices"] if d["name"] == place)["state"]
    assert re.match(r"in use: vd\w+ is (mounted on /|in use by a file system)", state), state
    before, path = driver(qv, place), given(qv, off(place))
    said = qv.refused(f"cell create {path}")
    assert f"PCI function {place} is {state}" in said and "--force" in said
    checked = qv.qvctl(f"config check {path}")
    assert checked.rc == 2 and f"devices: {place}: in use: " in checked.err
    assert driver(qv, place) == before and qv.online() == qv.all_online


def test_unmounted_disk_in_use_is_refused(qv: Product) -> None:
    """A program has the disk open exclusively. When it ends, the disk can be given to a cell."""
    disk = qv.sh(f"basename /sys/bus/pci/devices/0000:{DISK}/virtio*/block/*").strip()
    holder = qv.machine.start(["python3", "-c", f"import os; os.open('/dev/{disk}', os.O_RDWR | os.O_EXCL); print(1, flush=True); input()"])
    while not holder.output:
        assert not holder.ended.wait(0.1), holder.output
    assert f"{disk} is in use by a file system or a program" in qv.refused(f"cell create {given(qv, off(DISK))}")
    holder.write(b"\n")
    qv.machine.finish(holder, 20)
    run(qv, off(DISK))
    qv.do("cell destroy quest")


# Function, the command that begins a use by Linux, the command that ends it, the reason in refusals
USES = {
    "swap": (DISK, "mkswap /dev/{0} >&2 && swapon /dev/{0}", "swapoff /dev/{0}", "{0} is swap space"),
    "dm": (DISK, "modprobe dm_mod && /run/devmapper create spare /dev/{0}", "/run/devmapper remove spare", "{0} is a part of dm-0 (LVM, encryption or RAID)"),
    "nic": (NIC, "ip link set {0} up", "ip link set {0} down", "network interface {0} is up"),
}


@pytest.mark.parametrize("use", USES)
def test_function_used_by_linux_is_refused_until_released(qv: Product, use: str) -> None:
    """`devices`, `config check` and `cell create` give the reason. When the use has ended, a cell can
    have the function."""
    place, begin, end, reason = USES[use]
    name = qv.sh(f"basename $(ls -d /sys/bus/pci/devices/0000:{place}/virtio*/{{block,net}}/* 2>/dev/null)").strip()
    qv.machine.put(HERE / "inside/devmapper", "/run/devmapper")
    path = given(qv, off(place))
    qv.sh(begin.format(name))
    try:
        state = f"in use: {reason.format(name)}"
        assert next(d for d in qv.ask("devices")["devices"] if d["name"] == place)["state"] == state
        assert f"PCI function {place} is {state}" in qv.refused(f"cell create {path}")
        assert f"devices: {place}: {state}" in qv.qvctl(f"config check {path}").err
        assert driver(qv, place).startswith("virtio")
    finally:
        qv.sh(end.format(name))
    run(qv, off(place))
    qv.do("cell destroy quest")


def test_device_list_names_states(qv: Product) -> None:
    listed = {d["name"]: d for d in qv.ask("devices")["devices"]}
    assert listed[EDU]["state"] == "yes" and listed["00:1f.0"]["state"] == "no: a bridge"
    run(qv, off(EDU))
    assert {d["name"]: d["state"] for d in qv.ask("devices")["devices"]}[EDU] == "a cell's"
