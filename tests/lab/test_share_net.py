# SPDX-License-Identifier: GPL-2.0-only
"""Two Quest cells share one network function."""

import re

import pytest
from devices import given
from product import TEST_IMAGE, Product
from test_cell_net import CELL, CELL_IP, alone, linux_up  # noqa: F401
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


def start_owner(qv: Product) -> None:
    path = given(qv, dma(CELL, "protected"), more=RINGS.replace("\n", "\\n"))
    qv.sh(f"sed -i 's,^cmdline:.*,cmdline: net={CELL_IP}/24\\,share,; s,^cpus:.*,cpus: [3],' {path}")
    qv.do(f"cell create {path} --start")


def two_sharers(qv: Product) -> None:
    linux_up(qv)
    qv.do("enable --iommu")
    start_owner(qv)
    qv.sh(f"cat >/run/other.yaml <<'END'\nname: other\ncpus: [2]\nmemory: 32M\nimage: {TEST_IMAGE}\n"
          f"cmdline: net=share:lan,{OTHER_IP}/24\n{RINGS}END")
    qv.do("cell create /run/other.yaml --start")


def answers(qv: Product, address: str) -> bool:
    return " 10 received" in qv.machine.run(f"{PING}{address}").out


def until_answers(qv: Product, address: str) -> None:
    """The first packets may be lost while Linux asks for the cell's address."""
    until(lambda: answers(qv, address), f"{address} answers all of ten packets", 60)


@AMD_IDENTITY
def test_two_cells_share_a_function(qv: Product) -> None:
    """Each answers Linux by an address of its own, and the sharer sends to the owner."""
    two_sharers(qv)
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
