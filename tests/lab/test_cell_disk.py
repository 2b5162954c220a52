# SPDX-License-Identifier: GPL-2.0-only
"""A cell with an NVMe disk of its own, behind the IOMMU."""

import zlib

import pytest

from devices import run
from product import Product
from test_iommu import AMD_IDENTITY, FIRST_STAGE, IDENTITY, LINUX, TRANSLATED, dma, held, linux_page

DISK, NODE = "00:11.0", "/dev/nvme0n1"
LEN = 4096


def block(number: int) -> bytes:
    return number.to_bytes(4, "little") * (LEN // 4)


def linux_writes(qv: Product, *numbers: int) -> None:
    qv.sh(f"modprobe nvme; timeout 60 sh -c 'until test -b {NODE}; do sleep 0.2; done'")
    for number in numbers:
        qv.sh(f"""python3 -c "
import os
f = os.open('{NODE}', os.O_WRONLY)
os.pwrite(f, ({number}).to_bytes(4, 'little') * {LEN // 4}, {number * LEN})
os.fsync(f)" """)


def linux_reads(qv: Product, number: int) -> int:
    """Returns the sum of the block."""
    return int(qv.sh(f"dd if={NODE} bs={LEN} skip={number} count=1 iflag=direct status=none | "
                     "python3 -c 'import sys, zlib; print(zlib.crc32(sys.stdin.buffer.read()))'"))


def done(data: bytes) -> str:
    return f"crc32 {zlib.crc32(data):08x}, interrupts=1\n"


def disk_works(qv: Product) -> None:
    """The data that Linux wrote arrive in the cell, each time with a message of MSI-X, and those of
    the cell in Linux."""
    linux_writes(qv, 4097, 9000, 16383)
    qv.do("enable --iommu")
    run(qv, dma(DISK, "protected"))
    assert qv.quesh("nvme id").split() == ["serial", "fast"]
    for number in (4097, 9000, 16383, 4097):
        assert qv.quesh(f"nvme read {number}") == done(block(number))
    assert qv.quesh("nvme write 12345 0x12345678") == done(bytes.fromhex("78563412") * (LEN // 4))
    assert qv.show()["devices"][0]["dma_blocked"] == 0
    with linux_page(qv) as pa:
        assert qv.quesh(f"nvme read 9000 {pa:#x}") != done(block(9000))
        assert held(qv) == LINUX
    assert qv.show()["devices"][0]["dma_blocked"] > 0
    assert qv.quesh("nvme read 9000") == done(block(9000)), "it works again"
    qv.do("cell destroy quest")
    qv.sh(f"timeout 60 sh -c 'until test -b {NODE}; do sleep 0.2; done'")
    assert linux_reads(qv, 12345) == zlib.crc32(bytes.fromhex("78563412") * (LEN // 4))
    assert linux_reads(qv, 9000) == zlib.crc32(block(9000))


@AMD_IDENTITY
def test_nvme_works_in_a_cell_by_amd_vi(qv: Product) -> None:
    disk_works(qv)


@pytest.mark.slow
@IDENTITY
def test_nvme_works_in_a_cell(qv: Product) -> None:
    disk_works(qv)


@pytest.mark.slow
@TRANSLATED
def test_nvme_works_in_a_cell_where_linux_translates(qv: Product) -> None:
    disk_works(qv)


@pytest.mark.slow
@FIRST_STAGE
def test_nvme_works_in_a_cell_in_first_stage(qv: Product) -> None:
    disk_works(qv)
