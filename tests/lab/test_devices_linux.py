# SPDX-License-Identifier: GPL-2.0-only
"""Linux cannot reach the PCI functions, ports and interrupts of a cell, and cannot move its own
there."""

import re

import pytest

from devices import (
    ABOVE, BESIDE, EDU, EDU_BDF, EDU_ID, RNG, SERIAL, SERIAL_BDF, XAPIC, config, config_of_linux,
    denied, driver, given, off, resource, run)
from product import CONFIGS, TEST_IMAGE, Product, module

CELL_APIC = 3  # APIC id of the only CPU in configs/quest.yaml

pytestmark = XAPIC


@pytest.mark.slow
def test_linux_cannot_rewrite_ioapic_entry_of_cell(qv: Product) -> None:
    """Linux writes to the entry by its index and by aliases of the index, since the IOAPIC decodes
    8 index bits."""
    qv.machine.put(module("qvtouch", qv.machine.config.kernel), "/run/qvtouch.ko")
    qv.sh("insmod /run/qvtouch.ko")

    def entry(index: int, *value: int) -> int:
        text = " ".join(f"{n:x}" for n in (index, *value))
        return int(qv.sh(f"cd /sys/module/qvtouch/parameters; taskset -c 0 bash -c 'echo {text} >ioapic'; cat value"))

    run(qv, off(EDU))
    assert qv.quesh("edu irq") == "interrupts=1\n"
    shown = re.search(r"vector (\w+)", qv.quesh("pci"))
    assert shown
    vector = int(shown[1], 0)
    entries = {index: (entry(index), entry(index + 1)) for index in range(0x10, 0x40, 2)}
    [mine] = [index for index, (low, high) in entries.items()
              if low & 0x108FF == vector and high >> 24 == CELL_APIC]
    was, before = entry(mine), denied(qv, "linux")
    for above in (0, 0x100, 0x8000, 0xFFFFFF00):
        entry(above | mine, 0x10000 | vector)
        entry(above | mine + 1, 0)
        assert entry(mine) & ~0x5000 == was & ~0x5000, hex(above)
        assert entry(mine + 1) >> 24 == CELL_APIC, hex(above)
    assert denied(qv, "linux") - before == 8
    assert qv.quesh("edu irq") == "interrupts=1\n"
    qv.sh("rmmod qvtouch")


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_listed_ports_are_denied_to_linux(qv: Product) -> None:
    """From start to destroy, only the cell can read and write the scratch register of a serial
    port."""
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
    """Linux reads and writes config space, registers and ports of a cell's device. Reads give ones
    and writes are dropped. Each access is counted."""
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
    places = [(0x18, 4), (0x1c, 2), (0x20, 4), (0x24, 4), (0x04, 2), (0x3e, 2), (express + 0x10, 2),
              (express + 0x18, 2)]
    was = read_config(qv, ABOVE, *places)
    flips = (0x00050500, 0x1010, 0x00100010, 0x00100010, 0x6, 0x40, 0x10, 0x400)
    writes = [(at, size, old ^ flip)
              for (at, size), old, flip in zip(places, was, flips, strict=True)]
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
    assert config_words(qv, ABOVE, (0x24, 4, was[3] ^ flips[3]), (0x24, 4, was[3])) == [
        was[3] ^ flips[3], was[3]]


def test_linux_bar_cannot_overlap_cell(qv: Product) -> None:
    """A BAR can be moved only while decoding is off. Decoding can be turned on again only if the BAR
    overlaps no memory of a cell and no RAM."""
    run(qv, off(EDU))
    target = int(qv.sh(f"head -1 /sys/bus/pci/devices/0000:{EDU}/resource").split()[0], 16)
    command, bar = read_config(qv, RNG, (0x04, 2), (0x14, 4))
    before = denied(qv, "linux")
    assert config_words(qv, RNG, (0x14, 4, target)) == [bar]
    moved = config_words(qv, RNG, (0x04, 2, command & ~3), (0x14, 4, target), (0x04, 2, command))
    assert moved == [command & ~3, target, command & ~3]
    assert denied(qv, "linux") - before == 2
    assert qv.quesh("edu fact 4") == "24\n"
    assert config_words(qv, RNG, (0x14, 4, 0x100000), (0x04, 2, command)) == [
        0x100000, command & ~3], "a BAR covers RAM"
    assert config_words(qv, RNG, (0x14, 4, bar), (0x04, 2, command)) == [bar, command]
