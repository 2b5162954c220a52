# SPDX-License-Identifier: GPL-2.0-only
"""The network of a Quest cell that has a network function of its own."""

import functools
import json
import re
import time
from collections.abc import Iterator

import pytest
from devices import given, unsafe
from product import HERE, TEST_IMAGE, Product
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
    qv.sh("modprobe e1000e; udevadm settle; "
          f"nic=$(basename $(ls -d /sys/bus/pci/devices/0000:{LINUX}/net/*)); ip link set $nic up; "
          f"ip addr replace {LINUX_IP}/24 dev $nic")


def file(qv: Product, device: str, more: str = "") -> str:
    """Returns the path of a cell's file. `more`: words behind the address."""
    path = given(qv, device)
    qv.sh(f"sed -i 's|^cmdline:.*|cmdline: net={CELL_IP}/24{more}|' {path}")
    return path


def run(qv: Product, device: str, more: str = "") -> None:
    qv.do(f"cell create {file(qv, device, more)} --start")


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
    until(lambda: "httpd: serves port 80" in qv.sh("quesh quest --dump"), "httpd", 60)


def serve_linux(qv: Product, how: str, more: str = "") -> None:
    """Starts a cell whose server Linux can reach. QV is enabled with the options `how`."""
    linux_up(qv)
    qv.do(f"enable {how}")
    run(qv, dma(CELL, "protected"), more)
    serve(qv)


@AMD_IDENTITY
def test_linux_pings_a_cell(qv: Product) -> None:
    """By an interrupt for each packet, and without an exit of the cell."""
    linux_up(qv)
    qv.do("enable --no-iommu")
    path = file(qv, unsafe(CELL))
    refused = qv.qvctl(f"cell create {path}")
    assert refused.rc and "a network function needs DMA, and there is `unsafe-dma`" in refused.err, refused
    # without this text in its image, qvctl does not know Quest
    qv.sh(f"LC_ALL=C sed 's/use net=ADDRESS/use net=address/' /usr/share/qv/images/{TEST_IMAGE} >/run/other.elf; "
          f"sed -i 's,^image:.*,image: /run/other.elf,' {path}")
    qv.do(f"cell create {path} --start")
    until(lambda: "its DMA would use addresses of the machine" in qv.quesh("net"), "the refusal", 60)
    qv.do("cell destroy quest")
    qv.do("disable")
    qv.do("enable --iommu")
    run(qv, dma(CELL, "protected"))
    ping = f"ping -c 1 -s 1400 {CELL_IP}"
    until(lambda: "1 received" in qv.machine.run(ping).out, "the cell has an address that Linux knows", 120)
    before, interrupts = exits(qv), count(qv, r"(\d+) interrupts by MSI-X")
    # one after another: those that come while the cell's CPU does not run have one interrupt
    assert qv.sh(f"for n in $(seq 20); do {ping}; done").count("1 received") == 20
    assert exits(qv) == before
    assert count(qv, r"(\d+) interrupts by MSI-X") >= interrupts + 10
    assert count(qv, r"received (\d+) frames") >= 20
    assert count(qv, r"bad (\d+),") == count(qv, r"ring full (\d+)") == 0
    assert qv.show()["devices"][0]["dma_blocked"] == 0
    serve(qv)
    got = qv.sh(f"curl -sS http://{CELL_IP}/")
    assert "Quest, cell quest" in got and "; 1 requests, 0 refused" in got


@AMD_IDENTITY
@pytest.mark.slow
def test_a_cell_answers_many_requests(qv: Product) -> None:
    """120 requests a second of 17,675 bytes, as in the papers: fewer where the emulator is slow."""
    serve_linux(qv, "--iommu")
    qv.machine.put(HERE / "inside/requests", "/run/requests")
    said = qv.sh(f"/run/requests http://{CELL_IP}/bytes/17675 120 10", timeout=300)
    print(said)
    found = json.loads(said)
    # a connection may be given up, since 12 that begin and end at once may not fit into the queue
    assert found["answered"] > 0.98 * found["asked"] == 0.98 * 1200, said
    assert found["bytes"] == [17675], said


def number(said: str, what: str) -> float:
    """Returns the number in a client's report."""
    found = re.search(what, said)
    assert found, said
    return float(found[1])


@AMD_IDENTITY
@pytest.mark.slow
def test_linux_pings_a_cell_whose_driver_is_killed(qv: Product) -> None:
    """The driver is a program. It is killed while Linux pings and downloads: a few pings are lost,
    and the download continues."""
    serve_linux(qv, "--iommu", ",apart")
    before = exits(qv)
    qv.sh(f"ping -q -i 0.01 -c 1000 {CELL_IP} >/run/pings 2>&1 & "
          f"curl -sS -o /run/page --limit-rate 200k http://{CELL_IP}/bytes/2000000 2>/run/wrong &")
    for _ in range(5):
        [pid] = re.findall(r"(?m)^ *(\d+) +0 nicdriver", qv.quesh("ps"))
        qv.quesh(f"kill {pid}")
        time.sleep(0.5)
    until(lambda: "received" in qv.sh("cat /run/pings"), "the end of the pings", 120)
    until(lambda: not qv.machine.run("pgrep -x curl").out, "the end of the download", 120)
    said = qv.sh("cat /run/pings /run/wrong") + qv.sh("qvctl recovery quest")
    print(said, before, exits(qv))
    assert number(said, r"(\d+) received") >= 900, said
    assert qv.sh("tr -d q </run/page | wc -c; wc -c </run/page").split() == ["0", "2000000"], said
    nic = qv.ask("recovery quest")["components"][0]
    assert (nic["name"], nic["starts"], nic["faults"]) == ("nic", 6, 5), nic
    assert qv.show()["devices"][0]["dma_blocked"] == 0


@AMD_IDENTITY
@pytest.mark.slow
@pytest.mark.parametrize("more", ["", ",apart"], ids=["kernel", "program"])
def test_clients_of_linux_use_a_cell(qv: Product, more: str) -> None:
    """ping, curl, ab, and iperf in both directions by TCP and UDP, against the programs of Quest. The
    driver is part of Quest's kernel, or a program."""
    serve_linux(qv, "--strict --iommu", more)
    print(qv.sh(f"ping -q -c 100 -i 0.02 -s 1400 {CELL_IP}"))
    said = qv.sh(f"curl -sS -o /run/page -w '%{{http_code}} %{{size_download}}' http://{CELL_IP}/bytes/17675")
    assert said == "200 17675" and qv.sh("tr -d q </run/page | wc -c") == "0\n", said
    said = qv.sh(f"ab -q -n 600 -c 6 http://{CELL_IP}/bytes/17675", timeout=300)
    print(said)
    assert number(said, r"Complete requests: +(\d+)") == 600 and number(said, r"Failed requests: +(\d+)") == 0
    assert number(said, r"HTML transferred: +(\d+)") == 600 * 17675
    qv.quesh("iperf -s &")
    qv.quesh("iperf -s -u &")
    said = qv.sh(f"iperf -c {CELL_IP} -t 5 -f k", timeout=60)
    assert number(said, r"sec +[\d.]+ \w+ +([\d.]+) Kbits/sec") > 0, said
    datagrams = qv.sh(f"iperf -c {CELL_IP} -u -b 4m -l 1472 -t 5 -f k", timeout=60)
    print(said, datagrams, qv.sh("quesh quest --dump"))
    # the server's report comes from the cell; a burst of more than eight may lose some
    assert number(datagrams, r"Server Report:[^$]* (\d+)/\d+ \(") <= 0.2 * number(datagrams, r"(\d+) \("), datagrams
    assert "late 0, twice 0" in qv.sh("quesh quest --dump")
    said = qv.quesh(f"iperf -c {LINUX_IP} -t 2") if until_serves(qv, "") else ""
    print(said)
    assert number(said, r"sent (\d+) bytes") > 0, said
    said = qv.quesh(f"iperf -c {LINUX_IP} -u -t 2") if until_serves(qv, "-u") else ""
    print(said, qv.sh("cat /run/iperf*"))
    assert number(said, r"the server has got (\d+) bytes") > 0, said
    assert count(qv, r"bad (\d+),") == 0


def until_serves(qv: Product, how: str) -> bool:
    """Starts Linux's iperf as a server of TCP, or with `-u` of UDP."""
    # that of another test may run still; the file is there before the unit is
    qv.machine.run(f"systemctl stop iperf{how}")
    qv.sh(f"rm -f /run/iperf{how}; touch /run/iperf{how}; systemd-run -q --collect --unit iperf{how} sh -c 'exec iperf -s {how} >/run/iperf{how} 2>&1'")
    until(lambda: "5001" in qv.sh(f"cat /run/iperf{how}"), "Linux's iperf", 20)
    return True


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
