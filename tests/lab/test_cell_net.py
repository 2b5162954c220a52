# SPDX-License-Identifier: GPL-2.0-only
"""The network of a Quest cell that has a network function of its own."""

import functools
import json
import re
import shutil
import time
from collections.abc import Iterator

import pytest
from devices import given, unsafe
from product import HERE, Product
from test_iommu import AMD_IDENTITY, dma
from test_watching import until

# Both network functions are on one cable
LINUX, CELL = "00:12.0", "00:14.0"
LINUX_IP, CELL_IP = "10.0.2.15", "10.0.2.16"


@pytest.fixture(autouse=True)
def alone(qv: Product) -> Iterator[None]:
    """QEMU's own network leaves the cable: it answers TCP in the place of every address."""
    link = {"command-line": "set_link host off"}
    qv.machine.qmp("human-monitor-command", **link)
    yield
    link["command-line"] = "set_link host on"
    qv.machine.qmp("human-monitor-command", **link)


def linux_up(qv: Product) -> None:
    busybox = shutil.which("busybox")
    assert busybox, "it has the program ping"
    qv.machine.put(busybox, "/run/busybox")
    qv.sh("modprobe e1000e; udevadm settle; "
          f"nic=$(basename $(ls -d /sys/bus/pci/devices/0000:{LINUX}/net/*)); ip link set $nic up; "
          f"ip addr replace {LINUX_IP}/24 dev $nic")


def run(qv: Product, device: str) -> None:
    path = given(qv, device)
    qv.sh(f"sed -i 's,^cmdline:.*,cmdline: net={CELL_IP}/24,' {path}")
    qv.do(f"cell create {path} --start")


def count(qv: Product, what: str) -> int:
    """Returns a number that the command net of the cell prints."""
    said = qv.quesh("net")
    found = re.search(what, said)
    assert found, said
    return int(found[1])


def exits(qv: Product) -> dict[str, int]:
    found: dict[str, int] = qv.ask("cell stats quest")["cpus"][0]["exits"]
    return found


def serve(qv: Product) -> None:
    qv.quesh("httpd &")
    assert "httpd: serves port 80" in qv.sh("quesh quest --dump")


@AMD_IDENTITY
def test_linux_pings_a_cell(qv: Product) -> None:
    """By an interrupt for each packet, and without an exit of the cell."""
    linux_up(qv)
    qv.do("enable --no-iommu")
    run(qv, unsafe(CELL))
    assert "its DMA would use addresses of the machine" in qv.quesh("net")
    qv.do("cell destroy quest")
    qv.do("disable")
    qv.do("enable --iommu")
    run(qv, dma(CELL, "protected"))
    ping = f"/run/busybox ping -c 20 -i 0.05 -s 1400 {CELL_IP}"
    qv.sh(ping)  # until then Linux asks for the cell's address
    before, interrupts = exits(qv), count(qv, r"(\d+) interrupts")
    assert "20 packets received" in qv.sh(ping)
    assert exits(qv) == before
    assert count(qv, r"(\d+) interrupts") >= interrupts + 10
    assert count(qv, r"received (\d+) frames") >= 40
    assert count(qv, r"bad (\d+),") == count(qv, r"ring full (\d+)") == 0
    assert qv.show()["devices"][0]["dma_blocked"] == 0
    serve(qv)
    got = qv.sh(f"/run/busybox wget -q -O - http://{CELL_IP}/")
    assert "Quest, cell quest" in got and "; 1 requests, 0 refused" in got


@AMD_IDENTITY
@pytest.mark.slow
def test_a_cell_answers_many_requests(qv: Product) -> None:
    """120 requests a second of 17,675 bytes, as in the papers: fewer where the emulator is slow."""
    linux_up(qv)
    qv.do("enable --iommu")
    run(qv, dma(CELL, "protected"))
    serve(qv)
    qv.machine.put(HERE / "inside/requests", "/run/requests")
    said = qv.sh(f"/run/requests http://{CELL_IP}/bytes/17675 120 10", timeout=300)
    print(said)
    found = json.loads(said)
    # a connection may be given up, since 12 that begin and end at once may not fit into the queue
    assert found["answered"] > 0.98 * found["asked"] == 0.98 * 1200, said
    assert found["bytes"] == [17675], said


def has(qv: Product, row: str) -> bool:
    """Returns whether the cell's table of components has such a row."""
    return bool(re.search(row, qv.quesh("recovery")))


@AMD_IDENTITY
@pytest.mark.slow
def test_a_server_that_fails_again_and_again_is_back(qv: Product) -> None:
    """Each fault of a server with 120 requests a second costs one start, and few requests."""
    linux_up(qv)
    qv.do("enable --iommu")
    qv.sh("echo 'httpd 20ms/100ms restart=8/60s : httpd' >/run/faults.txt")
    path = given(qv, dma(CELL, "protected"), more="modules: [/run/faults.txt]\\nadmission: exact\\n")
    qv.sh(f"sed -i 's,^cmdline:.*,cmdline: net={CELL_IP}/24 recovery=faults.txt,' {path}")
    qv.do(f"cell create {path} --start")
    until(lambda: "httpd: serves port 80" in qv.sh("quesh quest --dump"), "the server")
    qv.machine.put(HERE / "inside/requests", "/run/requests")
    qv.sh(f"/run/requests http://{CELL_IP}/bytes/17675 120 16 >/run/asked 2>&1 &")
    for faults in range(1, 7):
        time.sleep(2)
        [pid] = re.findall(r"(?m)^ *(\d+) +\d+ httpd ", qv.quesh("ps"))
        qv.quesh(f"kill {pid}")
        row = rf"(?m)^httpd +runs +\d+ httpd +{faults + 1} "
        until(functools.partial(has, qv, row), "the server", 20)
    until(lambda: "median_ms" in qv.sh("cat /run/asked"), "the requests", 240)
    found = json.loads(qv.sh("cat /run/asked"))
    print(found, qv.quesh("recovery"))
    # each fault ends connections, and those that come until the server is back are refused
    assert found["answered"] >= found["asked"] - 6 * 2 * 12, found
