# SPDX-License-Identifier: GPL-2.0-only
"""PCI functions of the machines in which devices are given to cells, and helpers for tests of them."""

import pytest

from product import CONFIGS, TEST_IMAGE, Product

QEMU = ("-device", "edu,addr=10.0", "-device", "virtio-rng-pci,addr=11.0", "-device", "pci-serial,addr=12.0",
        "-device", "pcie-root-port,id=above,chassis=1,addr=13.0", "-device", "edu,bus=above",
        "-device", "pcie-root-port,id=beside,chassis=2,addr=14.0",
        "-drive", "if=none,id=spare,file.driver=null-co,file.size=67108864,file.read-zeroes=on,snapshot=on",
        "-device", "virtio-blk-pci,drive=spare,addr=15.0", "-device", "virtio-net-pci,addr=16.0")
# The functions of the machines with an IOMMU that the monitor owns
BEHIND_IOMMU = (
    "-device", "edu,dma_mask=0xffffffff,addr=10.0",
    "-drive", "if=none,id=fast,file.driver=null-co,file.size=67108864,file.read-zeroes=on,snapshot=on",
    "-device", "nvme,drive=fast,serial=fast,addr=11.0",
    # two network functions and the host, which echoes at port 7 of 10.0.2.100, on one cable
    "-netdev", "user,id=host,guestfwd=tcp:10.0.2.100:7-cmd:cat",
    "-netdev", "hubport,id=host0,hubid=0,netdev=host",
    "-netdev", "hubport,id=net0,hubid=0", "-device", "e1000e,netdev=net0,addr=12.0",
    "-netdev", "hubport,id=net1,hubid=0", "-device", "e1000e,netdev=net1,addr=14.0")
EDU, RNG, SERIAL, DISK, NIC = "00:10.0", "00:11.0", "00:12.0", "00:15.0", "00:16.0"
# addresses of a bridge with a function behind it, and of a bridge without
ABOVE, BESIDE = "00:13.0", "00:14.0"
EDU_BDF, RNG_BDF, SERIAL_BDF = 0x80, 0x88, 0x90
EDU_ID = "10000ed"
XAPIC = pytest.mark.machine(qemu_args=QEMU)
X2APIC = pytest.mark.machine(qemu_args=QEMU, iommu="intel")


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
