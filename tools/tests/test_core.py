# SPDX-License-Identifier: GPL-2.0-only
"""The ELF core of a cell: the walk of page tables, and gdb as a reader of the file."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from qv import abi, core, walk
from qv.condition import REGISTERS
from qv.walk import Range

MIB = 1 << 20
LONG = {"cr0": 0x80000011, "cr4": 0x20, "efer": 0x500}
PRESENT, LARGE = 1, 0x80


class Ram:
    """8 MiB in which a test builds page tables."""

    def __init__(self) -> None:
        self.bytes = bytearray(8 * MIB)

    def entry(self, table: int, index: int, value: int, wide: bool = True) -> None:
        struct.pack_into("<Q" if wide else "<I", self.bytes, table + index * (8 if wide else 4), value)

    def read(self, at: int) -> bytes:
        return bytes(self.bytes[at:at + 2 * MIB])

    def load(self, at: int, length: int) -> bytes:
        return bytes(self.bytes[at:at + length])

    def walk(self, cr3: int = 0x1000, **registers: int) -> tuple[list[Range], bool]:
        paging = walk.paging_of(registers["cr0"], registers["cr4"], registers["efer"])
        assert paging
        walked = walk.Walk(paging, self.load, len(self.bytes))
        return walked.ranges(cr3), walked.whole


def test_four_levels_with_large_pages_and_both_halves() -> None:
    ram = Ram()
    ram.entry(0x1000, 0, 0x2000 | 7)
    ram.entry(0x1000, 511, 0x2000 | 7)  # the same below the top of the upper half
    ram.entry(0x2000, 0, 0x3000 | 7)
    ram.entry(0x3000, 0, LARGE | 7)  # 2 MiB at 0
    ram.entry(0x3000, 1, 2 * MIB | LARGE | 7)  # goes on there
    ram.entry(0x3000, 2, 0x4000 | 7)
    ram.entry(0x4000, 5, 0x7000 | 1 << 63 | 1)
    ram.entry(0x4000, 6, 0xFEE00000 | 3)  # not RAM
    ram.entry(0x4000, 7, 0x8000)  # not present
    lower = [Range(0, 0, 4 * MIB), Range(4 * MIB + 0x5000, 0x7000, 0x1000)]
    top = 0xFFFF_FF80_0000_0000
    upper = [Range(top + part.virtual, part.physical, part.length) for part in lower]
    assert ram.walk(**LONG) == (lower + upper, True)


def test_a_page_that_goes_beyond_ram_is_cut() -> None:
    ram = Ram()
    ram.entry(0x1000, 1, 0x2000 | 3)
    ram.entry(0x2000, 0, LARGE | 3)  # 1 GiB
    assert ram.walk(**LONG) == ([Range(1 << 39, 0, 8 * MIB)], True)


def test_five_levels() -> None:
    ram = Ram()
    for table, index in ((0x1000, 256), (0x2000, 0), (0x3000, 0), (0x4000, 0)):
        ram.entry(table, index, table + 0x1000 | 3)
    ram.entry(0x5000, 1, 0x9000 | 3)
    assert ram.walk(**LONG | {"cr4": 0x1020}) == ([Range(0xFF00_0000_0000_1000, 0x9000, 0x1000)], True)


def test_32_bit_tables() -> None:
    ram = Ram()
    ram.entry(0x1020, 3, 0x2000 | 1)
    ram.entry(0x2000, 511, 4 * MIB | LARGE | 1)
    ram.entry(0x2000, 510, 0x3000 | 1)
    ram.entry(0x3000, 0, 0x6000 | 1)
    pae = {"cr0": 0x80000011, "cr4": 0x20, "efer": 0}
    assert ram.walk(0x1020, **pae) == ([Range(0xFFC00000, 0x6000, 0x1000), Range(0xFFE00000, 4 * MIB, 2 * MIB)], True)
    ram = Ram()
    ram.entry(0x1000, 1, 4 * MIB | LARGE | 1, wide=False)
    ram.entry(0x1000, 1023, 0x2000 | 1, wide=False)
    ram.entry(0x2000, 1023, 0x3000 | 1, wide=False)
    large, small = {"cr0": 0x80000001, "cr4": 0x10, "efer": 0}, Range(0xFFFFF000, 0x3000, 0x1000)
    assert ram.walk(**large) == ([Range(4 * MIB, 4 * MIB, 4 * MIB), small], True)
    assert ram.walk(**large | {"cr4": 0})[0][-1:] == [small]


def test_hostile_tables_end() -> None:
    """A table whose entries all lead to itself would be 2^36 pages."""
    ram = Ram()
    for index in range(512):
        ram.entry(0x1000, index, 0x1000 | 1)
    ranges, whole = ram.walk(**LONG)
    assert not whole and 0 < len(ranges) <= walk.MOST_RANGES
    ram = Ram()
    ram.entry(0x1000, 0, 0x7FFFFF000 | 1)  # a table outside RAM
    assert ram.walk(0x1000, **LONG) == ram.walk(0x7FFFFFF000, **LONG) == ([], True)


def info_of(**registers: int) -> abi.CellInfo:
    info = abi.CellInfo(name=b"robot", image_name=b"robot.elf", cmdline=b"speed=3", memory=8 * MIB)
    info.failure.reason = abi.Failure.MEMORY
    for name, value in registers.items():
        if name in REGISTERS:
            info.failure.regs[REGISTERS.index(name)] = value
        else:
            setattr(info.failure, name, value)
    return info


def gdb(path: Path, *commands: str) -> str:
    words = ["gdb", "-q", "-nx", "-batch", "-core", str(path)]
    for command in commands:
        words += ["-ex", command]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def written(path: Path, info: abi.CellInfo, ram: Ram, window: dict[int, bytes]) -> core.Core:
    with path.open("w+b") as file:
        return core.write(file, info, ram.read, window)


def test_gdb_reads_registers_and_virtual_memory(tmp_path: Path) -> None:
    ram = Ram()
    ram.entry(0x1000, 511, 0x2000 | 3)
    ram.entry(0x2000, 510, 0x3000 | 3)
    ram.entry(0x3000, 0, 4 * MIB | LARGE | 3)
    ram.bytes[4 * MIB + 0x1234:4 * MIB + 0x1240] = b"a cell's RAM"
    base = 0xFFFF_FFFF_8000_0000
    info = info_of(**LONG, cr3=0x1000, rip=base + 0x1000, rflags=0x202, rsp=base + 0x9FF0, rax=1, rbx=2,
                   r8=8, r15=0xFEDC_BA98_7654_3210)
    path = tmp_path / "robot.core"
    done = written(path, info, ram, {4 * MIB + 0x2000: b"window" + bytes(4090)})
    assert (done.paging, done.whole) == ("4 levels", True)
    said = gdb(path, "p/x $rip", "p/x $rsp", "p/x $rax", "p/x $rbx", "p/x $r8", "p/x $r15", "p/x $eflags",
               f"x/s {base + 0x1234:#x}", f"x/s {base + 0x2000:#x}")
    for number, value in enumerate((base + 0x1000, base + 0x9FF0, 1, 2, 8, 0xFEDC_BA98_7654_3210, 0x202), 1):
        assert f"${number} = {value:#x}\n" in said
    assert '"a cell\'s RAM"' in said and '"window"' in said
    assert "Core was generated by `robot.elf speed=3'" in said and "SIGSEGV" in said
    # RAM that has only zeros takes no room
    assert path.stat().st_blocks * 512 < 200 << 10


def test_gdb_reads_a_32_bit_inmate_without_paging(tmp_path: Path) -> None:
    ram = Ram()
    ram.bytes[0x100085:0x100089] = b"tiny"
    path = tmp_path / "tiny.core"
    info = info_of(cr0=0x11, rip=0x100085, rsp=0x103FF0, rbp=0x103FF8, rax=7, rdi=9, rflags=2)
    info.failure.reason = abi.Failure.NONE
    assert written(path, info, ram, {}).paging == "off"
    said = gdb(path, "p/x $eip", "p/x $esp", "p/x $ebp", "p/x $eax", "p/x $edi", "x/s 0x100085")
    for number, value in enumerate((0x100085, 0x103FF0, 0x103FF8, 7, 9), 1):
        assert f"${number} = {value:#x}\n" in said
    assert '"tiny"' in said and "SIG" not in said
