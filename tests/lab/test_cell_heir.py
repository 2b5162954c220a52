# SPDX-License-Identifier: GPL-2.0-only
"""A network function moves from a cell that ends to a running cell that waits for it."""

import re

import pytest

from devices import driver
from product import TEST_IMAGE, Product
from test_cell_net import CELL, CELL_IP, alone, linux_up  # noqa: F401
from test_iommu import AMD_IDENTITY, QEMU
from test_iommu_traffic import counted
from test_watching import until

CPU = {"first": 3, "second": 2, "third": 1}
WAITS = "another cell has its network function"
MACHINES = {
    "amd": AMD_IDENTITY,
    "intel-6.1": pytest.mark.machine(iommu="intel", kernel="6.1", qemu_args=QEMU, boot_args=("iommu=pt",)),
    "scalable": pytest.mark.machine(iommu="intel-scalable", qemu_args=QEMU),
}
GAP_S = 10      # an emulated machine on a busy host; the event has the time in the cell's clock


def write(qv: Product, name: str, device: str) -> str:
    path = f"/run/{name}.yaml"
    qv.sh(f"cat >{path} <<'END'\nname: {name}\ncpus: [{CPU[name]}]\nmemory: 64M\n"
          f"image: {TEST_IMAGE}\nboot: multiboot2\ncmdline: net={CELL_IP}/24\n"
          f"devices:\n  - {{pci: \"{CELL}\", {device}}}\nEND")
    return path


def answers(qv: Product) -> bool:
    return "1 received" in qv.machine.run(f"ping -c 1 -W 1 {CELL_IP}").out


def both_run(qv: Product) -> None:
    """The first cell answers, and the second one waits for its function."""
    linux_up(qv)
    qv.do("enable --iommu")
    heir = write(qv, "second", "heir-of: first")
    assert "belongs to no other cell" in qv.refused(f"cell create {heir}")
    qv.do(f"cell create {write(qv, 'first', 'dma: protected')} --start")
    until(lambda: answers(qv), "the first cell answers", 120)
    qv.do(f"cell create {heir} --start")
    until(lambda: WAITS in qv.quesh("net", "second"), "the second cell waits", 60)
    assert answers(qv)


def crash(qv: Product, name: str, how: str, heir: str) -> tuple[int, int]:
    """The cell fails while Linux pings. Prints for how long no answer came. Returns how long stop
    and move took, and when the function had moved after the failure, in us."""
    qv.sh(f"rm -f /run/pings; (ping -D -n -i 0.01 -c 4000 {CELL_IP} >/run/pings 2>&1; "
          "touch /run/pings.end) & sleep 1")
    qv.machine.run(["quesh", name, "-t", "20", "-c", f"crash {how}"])
    until(lambda: qv.show(name)["state"] == "failed", "the failure", 30)
    until(lambda: answers(qv), f"{heir} answers", 60)
    qv.machine.run("pkill -x -INT ping; true")
    at = [float(time) for time in re.findall(r"\[([\d.]+)\] \d+ bytes", qv.sh("cat /run/pings"))]
    gap = max(after - before for before, after in zip(at, at[1:], strict=False))
    moved = re.findall(rf"{heir}: PCI function 0000:{CELL} moved from cell {name} in (\d+) us, "
                       r"(\d+) us after that cell failed", qv.do("log"))
    print(f"crash {how}: no answer for {gap * 1000:.0f} ms; moved in {moved[-1][0]} us, "
          f"{moved[-1][1]} us after the failure")
    assert len(at) > 20 and gap < GAP_S
    assert "this cell has inherited its network function" in qv.sh(f"quesh {heir} --dump")
    return int(moved[-1][0]), int(moved[-1][1])


@counted("amd", "iommu=pt")
@pytest.mark.slow
def test_move_holds_no_cpu_long(qv: Product) -> None:
    """In counted time: two calls of the monitor stop the cell and move its function (89 us), at
    most two periods of the watch after the failure."""
    both_run(qv)
    us, after = crash(qv, "first", "memory", "second")
    assert us < 150 and after < 10_000


@pytest.mark.parametrize("", [pytest.param(id=name, marks=mark) for name, mark in MACHINES.items()])
@pytest.mark.slow
def test_heir_answers_when_the_cell_has_failed(qv: Product) -> None:
    """And when the heir fails later, the first cell answers, which has begun again and waits. At
    last Linux has its function back, and it works."""
    both_run(qv)
    crash(qv, "first", "memory", "second")
    assert qv.show("first")["devices"][0]["waits"] and not qv.show("second")["devices"][0]["waits"]
    assert driver(qv, CELL) == "qv-cell"
    qv.do("cell start first")
    until(lambda: WAITS in qv.quesh("net", "first"), "the first cell waits", 60)
    assert "heir-of: \"second\"" in qv.do("cell export first")
    assert answers(qv)
    crash(qv, "second", "fault", "first")
    for name in ("first", "second"):
        assert qv.show(name)["devices"][0]["dma_blocked"] == 0
    qv.do("cell destroy second")
    assert answers(qv) and driver(qv, CELL) == "qv-cell"
    qv.do("cell destroy first")
    qv.sh("udevadm settle")
    assert driver(qv, CELL) == "e1000e"
    # the function's interface answers from a namespace of its own
    qv.sh(f"nic=$(basename $(ls -d /sys/bus/pci/devices/0000:{CELL}/net/*)); ip netns add far; "
          f"ip link set $nic netns far; ip -n far addr add {CELL_IP}/24 dev $nic; "
          "ip -n far link set $nic up; ip neigh flush all")
    until(lambda: answers(qv), "Linux's own interface answers", 60)
    qv.sh("ip netns del far")


@AMD_IDENTITY
@pytest.mark.slow
def test_heir_of_a_cell_that_is_shut_down_or_destroyed(qv: Product) -> None:
    """An heir that starts late inherits at once; an heir that ends returns the function to Linux,
    and an heir that only waited returns nothing."""
    both_run(qv)
    qv.do("cell shutdown second")
    assert answers(qv)
    qv.do("cell destroy first")                 # no heir runs: Linux has it
    assert driver(qv, CELL) == "e1000e"
    qv.do(f"cell create {write(qv, 'first', 'dma: protected')} --start")
    until(lambda: answers(qv), "the first cell answers", 120)
    qv.do("cell shutdown first")
    qv.do("cell start second")                  # a late heir
    until(lambda: answers(qv), "the second cell answers", 60)
    assert "belongs to another cell" in qv.refused(f"cell create {write(qv, 'third', 'dma: off')}")
    qv.do("cell destroy second")
    assert driver(qv, CELL) == "e1000e"
    qv.do("cell destroy first")
    assert driver(qv, CELL) == "e1000e"
