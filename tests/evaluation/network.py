# SPDX-License-Identifier: GPL-2.0-only
"""A machine in which Linux and a cell have a network function each, on one cable, and the monitor
owns the IOMMU."""

from typing import Any

from cells import Bench

LINUX, FUNCTION = "00:12.0", "00:14.0"
LINUX_IP = "10.0.2.15"
CARDS = (
    "-netdev", "hubport,id=net0,hubid=0", "-device", "e1000e,netdev=net0,addr=12.0",
    "-netdev", "hubport,id=net1,hubid=0", "-device", "e1000e,netdev=net1,addr=14.0",
)  # fmt: skip
# Without x2APIC mode, with which the emulator would boot for minutes in counted time
COUNTED: dict[str, Any] = {
    "boot_args": ("iommu=pt",),
    "qemu_args": ("-device", "amd-iommu,intremap=on,xtsup=off,dma-remap=on", *CARDS),
}
DEVICES = (f'{{pci: "{FUNCTION}", dma: protected}}',)  # of the cell


def set_up(at: Bench, *more: str) -> None:
    """Linux has its address, and has run `more`. The monitor owns the IOMMU."""
    lines = [
        "modprobe e1000e; udevadm settle",
        f"nic=$(basename $(ls -d /sys/bus/pci/devices/0000:{LINUX}/net/*))",
        f"ip link set $nic up; ip addr replace {LINUX_IP}/24 dev $nic",
        *more,
    ]
    at.run("sh", "-ec", "; ".join(lines))
    at.run("qvctl", "enable", "--strict", "--iommu")
