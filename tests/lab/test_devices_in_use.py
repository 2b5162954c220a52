# SPDX-License-Identifier: GPL-2.0-only
"""PCI functions that Linux uses: `devices`, `config check` and `cell create` refuse them."""

import re

import pytest

from devices import DISK, NIC, XAPIC, driver, given, off, run
from product import HERE, Product

pytestmark = XAPIC


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


@pytest.mark.slow
def test_unmounted_disk_in_use_is_refused(qv: Product) -> None:
    """A program has the disk open exclusively. When it ends, the disk can be given to a cell."""
    disk = qv.sh(f"basename /sys/bus/pci/devices/0000:{DISK}/virtio*/block/*").strip()
    holder = qv.machine.start(["python3", "-c", f"import os; os.open('/dev/{disk}', os.O_RDWR | os.O_EXCL); print(1, flush=True); input()"])
    while not holder.output:
        assert not holder.ended.wait(0.1), holder.output
    assert f"{disk} is in use by a file system or a program" in qv.refused(f"cell create {given(qv, off(DISK))}")
    holder.write(b"\n")
    qv.machine.finish(holder, 120)
    run(qv, off(DISK))
    qv.do("cell destroy quest")


# The function, the command that begins a use by Linux, the command that ends the use, the reason in
# refusals
USES = {
    "swap": (DISK, "mkswap /dev/{0} >&2 && swapon /dev/{0}", "swapoff /dev/{0}", "{0} is swap space"),
    "dm": (DISK, "modprobe dm_mod && /run/devmapper create spare /dev/{0}", "/run/devmapper remove spare", "{0} is a part of dm-0 (LVM, encryption or RAID)"),
    "nic": (NIC, "ip link set {0} up", "ip link set {0} down", "network interface {0} is up"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.slow
def test_function_used_by_linux_is_refused_until_released(qv: Product, use: str) -> None:
    """`devices`, `config check` and `cell create` give the reason. After the use has ended, a cell
    can have the function."""
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
