# SPDX-License-Identifier: GPL-2.0-only
"""PCI functions of cells: given to a cell, used, filtered, and returned to their Linux drivers."""

import re
from pathlib import Path

import pytest

from badimage import image
from devices import (
    EDU, EDU_BDF, EDU_ID, RNG, RNG_BDF, SERIAL, X2APIC, XAPIC, config, config_of_linux, denied,
    driver, given, off, resource, run, unsafe)
from product import Product

PIIX = 0xf8  # 00:1f.0, a bridge

pytestmark = XAPIC


def test_device_registers_and_pin_work_in_cell(qv: Product) -> None:
    qv.sh(f"echo 1 >/sys/bus/pci/devices/0000:{EDU}/enable")
    before = config_of_linux(qv, EDU)
    run(qv, off(EDU))
    assert qv.quesh("edu id") == "id 010000ed, live edcba987\n"
    assert qv.quesh("edu fact 5") == "120\n"
    for _ in range(3):  # level-triggered: each interrupt needs an EOI at the IOAPIC
        assert qv.quesh("edu irq") == "interrupts=1\n"
    shown = qv.show()["devices"]
    assert shown == [{"pci": EDU, "dma": "off", "dma_blocked": 0, "unsafe_dma": False, "pin": True, "messages": False, "reset": False,
                      "virtual": False, "waits": False}]
    assert driver(qv, EDU) == "qv-cell"
    qv.do("cell destroy quest")
    assert config_of_linux(qv, EDU) == before
    assert driver(qv, EDU) == ""
    assert resource(qv, EDU) == EDU_ID


@pytest.mark.slow
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
@pytest.mark.slow
def test_interrupt_remapping_disconnects_pin(qv: Product) -> None:
    run(qv, off(EDU))
    assert qv.quesh("edu id") == "id 010000ed, live edcba987\n"
    assert qv.quesh("edu irq") == "its pin is not connected\n"
    assert not qv.show()["devices"][0]["pin"]
    assert "no-messages" in qv.quesh("pci")
    before = denied(qv, "quest")
    for how in ("set", "portset"):
        # Linux or its devices use the interrupt line, so the line stays disabled
        assert config(qv, f"{how} {EDU_BDF} 4 2 0x003") == 0x403
    assert denied(qv, "quest") - before == 2


@pytest.mark.slow
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
    run(qv, f'{{pci: "{EDU}"}}')  # off is the default where no IOMMU confines the function
    assert qv.show()["devices"][0]["dma"] == "off"
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
    # A vector of exceptions (0x1f); SMI, NMI, INIT, ExtINT; a level-triggered message (0x8050)
    for bad in (0x1f, 0x200, 0x250, 0x450, 0x550, 0x750, 0x8050):
        assert config(qv, f"set {EDU_BDF} 0x4c 2 {bad:#x}") == data, f"{bad:#x}"
    assert config(qv, f"set {EDU_BDF} 0x42 2 0x0071") & 0x70 == 0, "eight messages instead of one"
    assert qv.quesh("edu msi") == "interrupts=1\n"
    assert denied(qv, "quest") >= 20


@pytest.mark.slow
def test_msix_entry_reaches_own_cpus_only(qv: Product) -> None:
    run(qv, unsafe(RNG))
    assert qv.quesh("pcitest msix 0 0") == "on\n"
    listing = qv.quesh("pci")
    cap = next(at for at in range(0x40, 0x100, 4)
               if config(qv, f"get {RNG_BDF} {at} 1") == 0x11 and config(qv, f"get {RNG_BDF} {at + 4} 4") & 7 == 1)
    found = re.search(r"bar 1: memory ([0-9a-f]+),", listing)
    assert found, listing
    table = int(found[1], 16) + (config(qv, f"get {RNG_BDF} {cap + 4} 4") & ~7)
    # The first address is in the kernel's text, which `pcitest load` would map a second time
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
    """Functions of other owners seem absent: reads give ones, and writes are dropped and counted.
    The cell continues to run. The devices of Linux do not change."""
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


@pytest.mark.slow
def test_own_config_space_is_filtered(qv: Product) -> None:
    """The cell accesses by ECAM and by ports, in bytes, words and dwords. It cannot move BARs."""
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
@pytest.mark.slow
def test_port_next_to_config_space_fails_cell(qv: Product, line: str, port: int) -> None:
    run(qv, off(EDU))
    qv.machine.run(["quesh", "quest", "-t", "30", "-c", line], 60)
    cell = qv.show()
    assert (cell["state"], cell["failure"]["reason"], cell["failure"]["address"]) == ("failed", "port", f"{port:#x}")


def test_linux_drivers_return_after_destroy(qv: Product) -> None:
    had = {place: driver(qv, place) for place in (RNG, SERIAL)}
    assert had[RNG] == "virtio-pci" and had[SERIAL] == "serial"
    for _ in range(3):
        run(qv, off(EDU), unsafe(RNG), off(SERIAL))
        assert {driver(qv, place) for place in (EDU, RNG, SERIAL)} == {"qv-cell"}
        qv.do("cell destroy quest")
        assert {place: driver(qv, place) for place in (RNG, SERIAL)} == had
    # the driver is bound to the device again
    qv.sh(f"ls -d /sys/bus/pci/devices/0000:{RNG}/virtio*")


@pytest.mark.slow
def test_failed_create_returns_devices(qv: Product, tmp_path: Path) -> None:
    path = given(qv, unsafe(RNG), off(SERIAL))
    (tmp_path / "bad.elf").write_bytes(image("beyond"))
    qv.machine.put(tmp_path / "bad.elf", "/run/bad.elf")
    qv.sh(f"sed -i 's,^image:.*,image: /run/bad.elf,' {path}")
    assert "cannot be loaded" in qv.refused(f"cell create {path}")
    assert (driver(qv, RNG), driver(qv, SERIAL)) == ("virtio-pci", "serial")
    path = given(qv, unsafe(RNG), off("00:1f.0"))  # the monitor refuses the second function
    assert "is a bridge" in qv.refused(f"cell create {path}")
    assert driver(qv, RNG) == "virtio-pci"


def test_restart_resets_device(qv: Product) -> None:
    run(qv, off(EDU))
    qv.machine.run("quesh quest -t 30 -c 'crash memory'", 60)
    assert qv.show()["state"] == "failed"
    qv.do("cell start quest")
    assert qv.quesh("edu fact 5") == "120\n"
    assert qv.quesh("edu irq") == "interrupts=1\n"


@pytest.mark.slow
def test_unusable_function_is_refused(qv: Product) -> None:
    assert "is a bridge" in qv.refused(f"cell create {given(qv, off('00:1f.0'))}")
    none = qv.qvctl(f"cell create {given(qv, off('00:1e.0'))}")
    assert none.rc == 2 and "there is no PCI function 00:1e.0 here" in none.err
    wish = f'{{pci: "{EDU}", dma: protected}}'
    assert "the monitor does not own the IOMMU" in qv.refused(f"cell create {given(qv, wish)}")
    run(qv, off(EDU))
    qv.sh("sed 's/^name:.*/name: other/; s/^cpus:.*/cpus: [2]/' /run/devices.yaml >/run/other.yaml")
    assert "belongs to another cell" in qv.refused("cell create /run/other.yaml")
    assert qv.quesh("edu fact 3") == "6\n"


@pytest.mark.parametrize("rounds", [5, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_device_survives_create_destroy_rounds(qv: Product, rounds: int) -> None:
    qv.do("enable")
    for _ in range(rounds):
        run(qv, off(EDU), unsafe(RNG))
        assert qv.quesh("edu irq") == "interrupts=1\n"
        qv.do("cell destroy quest")
        assert driver(qv, RNG) == "virtio-pci"


@pytest.mark.slow
def test_device_list_names_states(qv: Product) -> None:
    listed = {d["name"]: d for d in qv.ask("devices")["devices"]}
    assert listed[EDU]["state"] == "yes" and listed["00:1f.0"]["state"] == "no: a bridge"
    run(qv, off(EDU))
    assert {d["name"]: d["state"] for d in qv.ask("devices")["devices"]}[EDU] == "a cell's"
