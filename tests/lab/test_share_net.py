# SPDX-License-Identifier: GPL-2.0-only
"""Two or three Quest cells share one network function."""

import re

import pytest
import sharing
from cells import Bench
from devices import given
from product import TEST_IMAGE, Product
from test_cell_igb import AMD_IDENTITY as AMD_IDENTITY_IGB
from test_cell_igb import IGB
from test_cell_net import CELL, CELL_IP, LINUX, LINUX_IP, alone, linux_up  # noqa: F401
from test_iommu import AMD_IDENTITY, dma
from test_watching import until

OTHER_IP = "10.0.2.17"
RINGS = """\
channels:
  - {name: lan-rx, type: ring, item: 1536, slots: 64, full: drop-oldest, writer: quest,
     readers: [other], bell: true}
  - {name: lan-tx, type: ring, item: 1536, slots: 64, full: error, writer: other,
     readers: [quest], bell: true}
"""
PING = "ping -c 10 -i 0.05 -s 1400 "
FETCH = "curl -sS http://"


def start_owner(qv: Product, more: str = "", place: str = CELL) -> None:
    """`more`: words behind `share`. `place`: of the function."""
    path = given(qv, dma(place, "protected"), more=RINGS.replace("\n", "\\n"))
    qv.sh(f"sed -i 's|^cmdline:.*|cmdline: net={CELL_IP}/24,share{more}|; s,^cpus:.*,cpus: [3],' {path}")
    qv.do(f"cell create {path} --start")


def two_sharers(qv: Product, more: str = "", place: str = CELL) -> None:
    linux_up(qv)
    qv.do("enable --iommu")
    start_owner(qv, more, place)
    qv.sh(f"cat >/run/other.yaml <<'END'\nname: other\ncpus: [2]\nmemory: 32M\nimage: {TEST_IMAGE}\n"
          f"cmdline: net=share:lan,{OTHER_IP}/24\n{RINGS}END")
    qv.do("cell create /run/other.yaml --start")


def answers(qv: Product, address: str) -> bool:
    return " 10 received" in qv.machine.run(f"{PING}{address}").out


def until_answers(qv: Product, address: str) -> None:
    """The first packets may be lost while Linux asks for the cell's address."""
    until(lambda: answers(qv, address), f"{address} answers all of ten packets", 60)


@pytest.mark.parametrize(("more", "place"), [
    pytest.param("", CELL, id="kernel", marks=AMD_IDENTITY),
    pytest.param(",apart", CELL, id="program", marks=(pytest.mark.slow, AMD_IDENTITY)),
    pytest.param("", IGB, id="igb", marks=(pytest.mark.slow, AMD_IDENTITY_IGB)),
])
def test_two_cells_share_a_function(qv: Product, more: str, place: str) -> None:
    """Each answers Linux by an address of its own, and the sharer sends to the owner. The driver is
    part of Quest's kernel, or a program, which is killed before. An 82576 is another kind."""
    two_sharers(qv, more, place)
    if more:
        until(lambda: "link up" in qv.quesh("net"), "the driver", 60)
        [pid] = re.findall(r"(?m)^ *(\d+) +0 nicdriver", qv.quesh("ps"))
        qv.quesh(f"kill {pid}")
    for name, address in ("quest", CELL_IP), ("other", OTHER_IP):
        until(lambda: f"{address}/24" in qv.quesh("net", name), f"{name} has an interface", 60)
        until_answers(qv, address)
        assert answers(qv, address), qv.quesh("net", name)
        qv.quesh("httpd &", name)
        until(lambda: "httpd: serves port 80" in qv.sh(f"quesh {name} --dump"), "httpd", 60)
        assert f"Quest, cell {name}" in qv.sh(f"{FETCH}{address}/")
    qv.quesh("iperf -s -u &")
    until(lambda: "iperf: serves" in qv.sh("quesh quest --dump"), "iperf", 60)
    said = qv.quesh(f"iperf -c {CELL_IP} -u -t 1", "other")
    assert re.search(r"the server has got [1-9]\d* bytes; lost \d+, late 0 of ", said), said
    assert ", late 0, twice 0" in qv.sh("quesh quest --dump")
    found = re.search(r"share lan: taken (\d+) frames, lost (\d+), bad (\d+)", qv.quesh("net", "other"))
    assert found and int(found[1]) >= 20 and found[2] == found[3] == "0", qv.quesh("net", "other")


@AMD_IDENTITY
@pytest.mark.slow
def test_sharer_survives_the_death_of_the_owner(qv: Product) -> None:
    """The interface of the sharer loses its link, and works again when the owner is back."""
    two_sharers(qv)
    until(lambda: f"{OTHER_IP}/24" in qv.quesh("net", "other"), "an interface", 60)
    until_answers(qv, OTHER_IP)
    assert answers(qv, OTHER_IP)
    qv.machine.run("quesh quest -c 'crash memory'")
    until(lambda: "link down" in qv.quesh("net", "other"), "the sharer sees that the owner is dead", 60)
    assert not answers(qv, OTHER_IP)
    assert qv.show("other")["state"] == "running"
    qv.do("cell start quest")
    until(lambda: "link up" in qv.quesh("net", "other"), "the owner is back", 60)
    until_answers(qv, OTHER_IP)
    assert answers(qv, OTHER_IP)
    assert answers(qv, CELL_IP)


# ---- three cells ----

# systemd's own server of DHCP, at Linux's end of the cable
SERVER = f"""\
[Network]
Address={LINUX_IP}/24
DHCPServer=yes
[DHCPServer]
PoolOffset=100
PoolSize=20
EmitDNS=no
"""
# Bits a second to each cell: a busy host may stop a CPU for 100 ms, and only 8 datagrams wait
RATE = "1m"
THREE = ("one", "two", "three")


def stream(qv: Product, addresses: dict[str, str]) -> dict[str, int]:
    """Linux sends datagrams to all of these cells at once. Returns how many each has received."""
    qv.sh("".join(f"iperf -c {address} -u -b {RATE} -l 1400 -t 5 >/run/stream-{name} 2>&1 & "
                  for name, address in addresses.items()) + "wait", timeout=120)
    got = {}
    for name in addresses:
        said = qv.sh(f"cat /run/stream-{name}")
        print(said)
        found = re.search(r"Server Report:[^$]* (\d+)/(\d+) \(", said)
        got[name] = int(found[2]) - int(found[1]) if found else 0
    return got


@AMD_IDENTITY
@pytest.mark.slow
def test_three_cells_share_a_function_and_one_stops_reading(qv: Product) -> None:
    """DHCP gives each an address. A cell that stops reading loses its own frames, and the others
    receive what they received before, within a tenth."""
    at = Bench(qv.machine)
    sharing.set_up(at, serve=False)
    qv.sh(f"mkdir -p /run/systemd/network; nic=$(basename $(ls -d /sys/bus/pci/devices/0000:{LINUX}/net/*))\n"
          f"cat >/run/systemd/network/lan.network <<END\n[Match]\nName=$nic\n{SERVER}END\nsystemctl start systemd-networkd")
    sharing.start(at, THREE, "dhcp")
    addresses = {}
    for name in THREE:
        said = sharing.wait(at, name, f"by DHCP from {LINUX_IP} as `{name}`")
        addresses[name] = said.partition("/")[0]
        until_answers(qv, addresses[name])
        qv.quesh("httpd &", name)
        until(lambda: "httpd: serves port 80" in qv.sh(f"quesh {name} --dump"), "httpd", 60)
        assert f"Quest, cell {name}" in qv.sh(f"{FETCH}{addresses[name]}/")
        qv.quesh("iperf -s -u &", name)
        # Linux would send nothing to a cell that does not answer ARP
        mac = re.search(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", said)
        assert mac
        qv.sh(f"nic=$(basename $(ls -d /sys/bus/pci/devices/0000:{LINUX}/net/*)); "
              f"ip neigh replace {addresses[name]} lladdr {mac[0]} dev $nic nud permanent")
    assert len(set(addresses.values())) == 3, addresses
    before = stream(qv, addresses)
    qv.machine.run("timeout 5 quesh two -c hang")
    after = stream(qv, addresses)
    print(addresses, before, after, qv.quesh("net", "one"))
    assert min(before.values()) > 0 and after["two"] == 0
    for name in "one", "three":
        assert abs(after[name] - before[name]) <= 0.1 * before[name], (before, after)
        assert ", late 0, twice 0" in qv.sh(f"quesh {name} --dump")
    qv.do("cell destroy two")
    qv.do("cell create /run/two.yaml --start")
    assert sharing.wait(at, "two", "by DHCP").startswith(addresses["two"])
    until_answers(qv, addresses["two"])


@AMD_IDENTITY
@pytest.mark.slow
def test_throughput_of_sharers(qv: Product) -> None:
    """Figure 4.17 of the dissertation, as `make evaluation` draws it: each datagram arrives once, or
    is counted as lost, and no cell takes the part of another."""
    found = sharing.measure(Bench(qv.machine))
    [figure] = sharing.shown(found)
    print(figure.says, *figure.rows, found, sep="\n")
    assert figure.holds, found
