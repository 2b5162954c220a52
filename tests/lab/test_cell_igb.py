# SPDX-License-Identifier: GPL-2.0-only
"""A cell with Intel's 82576 network function (igb), which has virtual functions."""

import re

import pytest

from devices import given, run
from product import Product
from test_cell_net import alone  # noqa: F401
from test_iommu import QEMU, dma
from test_watching import until

# On the cable of the other network functions, behind a bridge that keeps functions apart
LINUX, IGB = "00:12.0", "01:00.0"
MORE = (*QEMU, "-device", "pcie-root-port,id=above,chassis=3,addr=15.0",
        "-netdev", "hubport,id=net2,hubid=0", "-device", "igb,bus=above,netdev=net2,mac=52:54:00:12:34:77")
IDENTITY = pytest.mark.machine(iommu="intel", qemu_args=MORE, boot_args=("iommu=pt",))
AMD_IDENTITY = pytest.mark.machine(iommu="amd", qemu_args=MORE, boot_args=("iommu=pt",))
TRANSLATED = pytest.mark.machine(iommu="intel", qemu_args=MORE)
# Keeps the first frame of the cell
LISTEN = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88b5))
s.bind((sys.argv[1], 0x88b5))
open('/run/listens', 'w').close()
open('/run/frame', 'w').write(s.recv(2048).hex())
"""


def frame_arrives(qv: Product, word: str) -> None:
    qv.sh(f"""rm -f /run/frame /run/listens
          nic=$(basename $(ls -d /sys/bus/pci/devices/0000:{LINUX}/net/*)); ip link set $nic up
          systemd-run -q --collect --unit listen python3 -c "{LISTEN}" $nic
          timeout 20 sh -c 'until test -e /run/listens; do sleep 0.1; done'""")
    assert qv.quesh(f"igb send 0x{word}") == "sent, interrupts=1\n"
    frame = bytes.fromhex(qv.sh("timeout 20 sh -c 'until test -s /run/frame; do sleep 0.1; done'; cat /run/frame"))
    assert frame[:14].hex() == "ffffffffffff" + "525400123477" + "88b5"
    assert frame[14:254] == bytes.fromhex(word)[::-1] * 60


def function_works(qv: Product) -> None:
    """The monitor owns the IOMMU already."""
    qv.sh("modprobe e1000e; udevadm settle")
    run(qv, dma(IGB, "protected"))
    assert qv.quesh("igb link") == "address 525400123477, link up\n"
    for word in ("12345678", "cafe0001"):
        frame_arrives(qv, word)
    assert qv.show()["devices"][0]["dma_blocked"] == 0
    qv.do("cell destroy quest")


@pytest.mark.slow
@IDENTITY
def test_igb_works_in_a_cell(qv: Product) -> None:
    qv.do("enable --iommu")
    function_works(qv)


@pytest.mark.slow
@AMD_IDENTITY
def test_igb_works_in_a_cell_by_amd_vi(qv: Product) -> None:
    qv.do("enable --iommu")
    function_works(qv)


@pytest.mark.slow
@TRANSLATED
def test_physical_function_with_virtual_ones_stays_with_linux(qv: Product) -> None:
    qv.sh(f"modprobe igb; udevadm settle; echo 2 >/sys/bus/pci/devices/0000:{IGB}/sriov_numvfs")
    qv.do("enable --iommu")
    assert "has virtual functions" in qv.refused(f"cell create {given(qv, dma(IGB, 'protected'))}")
    qv.sh(f"echo 0 >/sys/bus/pci/devices/0000:{IGB}/sriov_numvfs")
    function_works(qv)


# ---- virtual functions ----

VIRTUAL, NUMBER = "01:10.2", 1       # of the first offset and stride of the 82576: the second function
# Answers the first frame of the cell by one of the same length, each word of which is inverted
ANSWER = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88b5))
s.bind((sys.argv[1], 0x88b5))
open('/run/listens', 'w').close()
f = s.recv(2048)
open('/run/frame', 'w').write(f.hex())
s.send(f[6:12] + bytes.fromhex('525400123456') + f[12:14] + bytes(b ^ 255 for b in f[14:256]))
"""


def make_virtual(qv: Product) -> None:
    """Linux's igb has the physical function, and gives the second virtual one its address."""
    qv.sh(f"""modprobe igb; modprobe e1000e; udevadm settle
          echo 2 >/sys/bus/pci/devices/0000:{IGB}/sriov_numvfs
          nic=$(basename $(ls -d /sys/bus/pci/devices/0000:{IGB}/net/*))
          ip link set $nic vf {NUMBER} mac 52:54:00:12:34:99; ip link set $nic up
          cd /sys/bus/pci/devices/0000:{IGB}; readlink virtfn{NUMBER} | grep -q {VIRTUAL}""")


def exchange(qv: Product, word: int) -> None:
    qv.sh(f"""rm -f /run/frame /run/listens
          nic=$(basename $(ls -d /sys/bus/pci/devices/0000:{LINUX}/net/*)); ip link set $nic up
          systemd-run -q --collect --unit answer python3 -c "{ANSWER}" $nic
          timeout 20 sh -c 'until test -e /run/listens; do sleep 0.1; done'""")
    inverted = f"{word ^ 0xffffffff:08x}"
    assert qv.quesh(f"igbvf {word:#x}") == f"address 525400123499\nsent, 256 bytes received: {inverted}\n"
    frame = bytes.fromhex(qv.sh("cat /run/frame"))
    assert frame[:14].hex() == "ffffffffffff" + "525400123499" + "88b5"
    assert frame[14:254] == word.to_bytes(4, "little") * 60


# Writes of a hostile Linux to the physical function, by setpci. They switch its virtual functions
# off, then their memory, make them fewer, move two of their BARs, reset it, let it sleep
HOSTILE = ("ECAP_SRIOV+8.w=0", "ECAP_SRIOV+8.w=1", "ECAP_SRIOV+10.w=0", "ECAP_SRIOV+24.l=fd000000",
           "ECAP_SRIOV+30.l=fd000000", "CAP_EXP+8.w=a810", "CAP_PM+4.w=3")


def virtual_function_works(qv: Product) -> None:
    make_virtual(qv)
    qv.do("enable --iommu")
    said = qv.refused(f"cell create {given(qv, dma(VIRTUAL, 'protected'), more='dma-protection: full')}")
    assert "is virtual" in said and "dma-protection: devices" in said
    run(qv, dma(VIRTUAL, "protected"))
    assert qv.show()["dma_level"] == "devices" and qv.show()["devices"][0]["virtual"]
    assert "level: DMA full\nlevel of cell quest: DMA devices" in qv.do("cell list")
    exchange(qv, 0x12345678)
    read = f"od -v -An -tx1 -j352 -N64 /sys/bus/pci/devices/0000:{IGB}/config"       # the capability of SR-IOV
    before = qv.sh(read)
    for write in HOSTILE:
        qv.sh(f"setpci -s {IGB} {write}")
        exchange(qv, 0xcafe0001)
    assert qv.sh(read) == before != ""
    qv.sh(f"! echo 0 >/sys/bus/pci/devices/0000:{IGB}/sriov_numvfs")        # igb refuses: a virtual function is in use
    exchange(qv, 0xcafe0002)
    assert qv.show()["devices"][0]["dma_blocked"] == 0
    qv.do("cell destroy quest")
    qv.sh(f"echo 0 >/sys/bus/pci/devices/0000:{IGB}/sriov_numvfs; test ! -e /sys/bus/pci/devices/0000:{VIRTUAL}")


@pytest.mark.slow
@IDENTITY
def test_virtual_function_works_in_a_cell(qv: Product) -> None:
    virtual_function_works(qv)


@pytest.mark.slow
@AMD_IDENTITY
def test_virtual_function_works_in_a_cell_by_amd_vi(qv: Product) -> None:
    virtual_function_works(qv)


# ---- Quest's own driver ----

CELL_IP = "10.0.2.18"


PING = f"ping -c 20 -i 0.05 -s 1400 {CELL_IP}"


def linux_up(qv: Product) -> None:
    qv.sh(f"modprobe e1000e; udevadm settle; nic=$(basename $(ls -d /sys/bus/pci/devices/0000:{LINUX}/net/*)); "
          f"ip link set $nic up; ip addr replace 10.0.2.15/24 dev $nic")


def quest_serves(qv: Product, place: str, address: str, more: str) -> None:
    """Linux pings a cell with this function and reads pages, by messages of MSI-X. `more`: words for
    the network. With `apart` the driver is killed."""
    qv.do("enable --strict --iommu")
    path = given(qv, dma(place, "protected"))
    qv.sh(f"sed -i 's|^cmdline:.*|cmdline: net={CELL_IP}/24{more}|' {path}")
    qv.do(f"cell create {path} --start")
    until(lambda: "link up" in qv.quesh("net"), "a link", 60)
    assert address in qv.quesh("net")
    qv.machine.run(PING)    # until then Linux asks for the cell's address
    assert "20 received" in qv.sh(PING)
    said = qv.quesh("net")
    found = re.search(r"(\d+) interrupts by MSI-X", said)
    assert found and int(found[1]) >= 10 and "; bad 0," in said, said
    qv.quesh("httpd &")
    until(lambda: "httpd: serves port 80" in qv.sh("quesh quest --dump"), "httpd", 60)
    assert "Quest, cell quest" in qv.sh(f"curl -sS http://{CELL_IP}/")
    assert qv.sh(f"curl -sS http://{CELL_IP}/bytes/1000000 | wc -c") == "1000000\n"
    if "apart" in more:
        [pid] = re.findall(r"(?m)^ *(\d+) +0 nicdriver", qv.quesh("ps"))
        qv.quesh(f"kill {pid}")
        until(lambda: "20 received" in qv.machine.run(PING).out, "the driver runs again", 60)


@pytest.mark.slow
@AMD_IDENTITY
@pytest.mark.parametrize("more", ["", ",apart"], ids=["kernel", "program"])
def test_quest_uses_a_virtual_function(qv: Product, more: str) -> None:
    """Also after Linux's driver has reset the physical function. Quest's driver is part of its
    kernel, or a program."""
    make_virtual(qv)
    linux_up(qv)
    quest_serves(qv, VIRTUAL, "52:54:00:12:34:99", more)
    # Linux resets the physical function, and with it the queues of the virtual ones
    qv.sh(f"nic=$(basename $(ls -d /sys/bus/pci/devices/0000:{IGB}/net/*)); ip link set $nic down; sleep 1; ip link set $nic up")
    until(lambda: "20 received" in qv.machine.run(PING).out, "the virtual function works again", 60)
    print(qv.quesh("net"), qv.show()["devices"])
    assert qv.show()["devices"][0]["dma_blocked"] == 0


@pytest.mark.slow
@AMD_IDENTITY
@pytest.mark.parametrize("more", ["", ",apart"], ids=["kernel", "program"])
def test_quest_uses_the_physical_function(qv: Product, more: str) -> None:
    """Linux's driver has used it before. Afterwards Linux has it again."""
    qv.sh(f"""modprobe igb; udevadm settle; echo 0 >/sys/bus/pci/devices/0000:{IGB}/sriov_numvfs
          nic=$(basename $(ls -d /sys/bus/pci/devices/0000:{IGB}/net/*))
          ip link set $nic up; sleep 2; ip link set $nic down""")
    linux_up(qv)
    quest_serves(qv, IGB, "52:54:00:12:34:77", more)
    print(qv.quesh("net"), qv.show()["devices"])
    assert qv.show()["devices"][0]["dma_blocked"] == 0
    qv.do("cell destroy quest")
    qv.sh(f"timeout 20 sh -c 'until test -e /sys/bus/pci/devices/0000:{IGB}/net; do sleep 0.1; done'")
