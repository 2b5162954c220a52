# SPDX-License-Identifier: GPL-2.0-only
"""The network of a Quest cell that has a network function of its own."""

import json
import re
import shutil
from collections.abc import Iterator

import pytest
from devices import given, unsafe
from product import HERE, Product
from test_iommu import AMD_IDENTITY, dma

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
    qv.do("enable --strict")
    run(qv, unsafe(CELL))
    assert "its DMA would use addresses of the machine" in qv.quesh("net")
    qv.do("cell destroy quest")
    qv.do("disable")
    qv.do("enable --strict --iommu")
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
    """120 requests a second of 17,675 bytes, as in the papers: fewer where the emulator is slow. All
    are answered. Files of the archive, too."""
    linux_up(qv)
    qv.do("enable --strict --iommu")
    run(qv, dma(CELL, "protected"))
    serve(qv)
    qv.machine.put(HERE / "inside/requests", "/run/requests")
    url = f"http://{CELL_IP}"
    said = qv.sh(f"/run/requests {url}/bytes/17675 120 10", timeout=300)
    print(said)
    found = json.loads(said)
    assert found["asked"] == found["answered"] == 1200 and found["bytes"] == [17675], said
    assert int(qv.sh(f"/run/busybox wget -q -O - {url}/frame.pgm | wc -c")) > 10_000
    assert "404 Not Found" in qv.sh(f"/run/busybox wget -O - {url}/nothing 2>&1; true")
    assert "; 1203 requests, 1 refused" in qv.sh(f"/run/busybox wget -q -O - {url}/")


RECEIVE = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
s.bind(("", 9))
s.settimeout(60)
n = 0
while s.recv(2000):
    n += 1
print(n)
"""
SEND = f"""
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(1000):
    s.sendto(bytes(1472), ("{CELL_IP}", 9))
    time.sleep(0.002)
time.sleep(0.1)
s.sendto(b"", ("{CELL_IP}", 9))
"""


@AMD_IDENTITY
@pytest.mark.slow
def test_datagrams_flow_both_ways(qv: Product) -> None:
    """As fast as the cell can send them, and 500 a second to the cell."""
    linux_up(qv)
    qv.do("enable --strict --iommu")
    run(qv, dma(CELL, "protected"))
    qv.sh(f"python3 -c '{RECEIVE}' >/run/received 2>&1 &")
    said = qv.quesh(f"udpperf send {LINUX_IP} 9 2", timeout=60)
    sent = re.search(r"sent (\d+) datagrams, .*: (\d+) KiB/s", said)
    assert sent, said
    received = qv.sh("for i in $(seq 100); do [ -s /run/received ] && break; sleep 0.1; done; cat /run/received")
    print(said, received)
    assert 100 < int(received) <= int(sent[1])  # Linux in the emulator loses some
    qv.quesh("udpperf receive 9 &")
    qv.sh(f"python3 -c '{SEND}'")
    found = re.search(r"received (\d+) datagrams", qv.sh("quesh quest --dump"))
    assert found and int(found[1]) > 900, qv.quesh("net")
