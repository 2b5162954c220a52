# SPDX-License-Identifier: GPL-2.0-only
"""A cell with Intel's 82576 network function (igb), which has virtual functions."""

import pytest

from devices import given, run
from product import Product
from test_iommu import QEMU, dma

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
    qv.do("enable --strict --iommu")
    function_works(qv)


@pytest.mark.slow
@AMD_IDENTITY
def test_igb_works_in_a_cell_by_amd_vi(qv: Product) -> None:
    qv.do("enable --strict --iommu")
    function_works(qv)


@pytest.mark.slow
@TRANSLATED
def test_virtual_functions_stay_with_linux(qv: Product) -> None:
    """Their registers lie where their function says, and Linux may change that."""
    qv.sh(f"modprobe igb; udevadm settle; echo 2 >/sys/bus/pci/devices/0000:{IGB}/sriov_numvfs")
    virtual = qv.sh(f"readlink /sys/bus/pci/devices/0000:{IGB}/virtfn0").strip().removeprefix("../0000:")
    qv.do("enable --strict --iommu")
    for place in (IGB, virtual):
        assert "virtual function" in qv.refused(f"cell create {given(qv, dma(place, 'protected'))}")
    qv.sh(f"echo 0 >/sys/bus/pci/devices/0000:{IGB}/sriov_numvfs")
    function_works(qv)
