# SPDX-License-Identifier: GPL-2.0-only
"""The costs of traffic by DMA of Linux's devices while the monitor owns the IOMMU."""

import json
from pathlib import Path
from typing import Any

import pytest

from product import Product

HERE = Path(__file__).resolve().parent
DISK, NIC = "/dev/nvme0n1", "0000:00:12.0"
QEMU = ("-drive", "if=none,id=fast,file.driver=null-co,file.size=67108864,file.read-zeroes=on,"
        "snapshot=on",
        "-device", "nvme,drive=fast,serial=fast,addr=11.0",
        "-netdev", "user,id=net0,guestfwd=tcp:10.0.2.100:7-cmd:cat",
        "-device", "e1000e,netdev=net0,addr=12.0")
# name: the machine, whether Linux's devices use the monitor's table ("full")
MODES: dict[str, tuple[dict[str, Any], bool]] = {
    "intel-identity": ({"iommu": "intel", "boot_args": ("iommu=pt",)}, True),
    "intel-translated": ({"iommu": "intel"}, False),
}


def in_modes(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("full", [
        pytest.param(MODES[name][1], id=name, marks=(
            pytest.mark.slow, pytest.mark.machine(qemu_args=QEMU, **MODES[name][0])))
        for name in names])


def program(qv: Product, end: str) -> str:
    """The command that reads and sends until the end. The disk has its data after `prepare`."""
    return f"python3 /run/dma-traffic {DISK} $(ls /sys/bus/pci/devices/{NIC}/net) {end}"


def prepare(qv: Product) -> None:
    qv.machine.put(HERE / "inside/dma-traffic", "/run/dma-traffic")
    qv.sh("modprobe nvme; modprobe e1000e; udevadm settle; "
          f"timeout 60 sh -c 'until test -b {DISK}; do sleep 0.2; done'; {program(qv, 'prepare')}")


def good(found: dict[str, Any]) -> None:
    assert found["reads"] > 100 and found["bytes"] > 1 << 18, found
    assert not found["bad_reads"] and not found["bad_bytes"] and not found["errors"], found


def measured(qv: Product, on: bool, seconds: int = 15) -> dict[str, Any]:
    """Runs traffic. Returns what it did, with the exits of Linux's CPUs meanwhile by reason."""
    before = qv.ask("cell stats linux")["exits"] if on else {}
    found: dict[str, Any] = json.loads(qv.sh(program(qv, str(seconds))))
    after = qv.ask("cell stats linux")["exits"] if on else {}
    good(found)
    more = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    return {**found, "exits": more}


@in_modes("intel-identity", "intel-translated")
def test_what_a_read_and_a_packet_of_linux_cost(qv: Product, full: bool) -> None:
    """Two rounds of three states, so that a load of the host that changes slowly does not count."""
    prepare(qv)
    states = {"disabled": "", "enabled": "enable", "with --iommu": "enable --strict --iommu"}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in states}
    for _ in range(2):
        for name, command in states.items():
            if command:
                qv.do(command)
            found[name].append(measured(qv, bool(command)))
            if command:
                qv.do("disable")
    memory = {}
    for name, all_ in found.items():
        reads, packets, seconds = (sum(one[key] for one in all_)
                                   for key in ("reads", "packets", "seconds"))
        exits = {reason: sum(one["exits"].get(reason, 0) for one in all_)
                 for reason in {reason for one in all_ for reason in one["exits"]}}
        memory[name] = exits.get("memory", 0)
        print(f"{name}: {reads} reads, {packets} packets in {seconds:.0f} s, "
              f"{sum(one['bytes'] for one in all_) >> 10} KiB by TCP; exits {exits}; memory exits "
              f"{memory[name] / (reads + packets):.4f} for each read or packet")
    reads, packets = (sum(one[key] for one in found["with --iommu"])
                      for key in ("reads", "packets"))
    # The others are the first touches of memory, and register accesses while interrupts move
    assert memory["with --iommu"] < (1000 if full else reads + packets), memory
