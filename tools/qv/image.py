# SPDX-License-Identifier: GPL-2.0-only
"""Checks by the headers of a file whether a cell can boot it. The driver, which loads it, checks
the rest."""

from __future__ import annotations

# a multiboot2 header is in the first 32 KiB (Multiboot2 2.0, section 3.1)
SEARCHED = 32 << 10
MAGIC = 0xe85250d6
MACHINES = {1: (3, "ELF32"), 2: (62, "ELF64")}  # EI_CLASS: e_machine


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at:at + size], "little")


def _elf(data: bytes) -> str | None:
    if len(data) < 64 or data[:4] != b"\x7fELF":
        return "is not an ELF file"
    if data[4] not in MACHINES or data[5] != 1 or _number(data, 18, 2) != MACHINES[data[4]][0]:
        return "is not a kernel for x86 (ELF machine)"
    return None


def _header(data: bytes) -> str | None:
    """As driver/cell/multiboot2.c: the first address, aligned to 8 bytes, that has the magic number
    and the checksum."""
    wrong = "has no multiboot2 header in its first 32 KiB"
    magic = MAGIC.to_bytes(4, "little")
    at = data.find(magic)
    while 0 <= at <= len(data) - 16:
        if at % 8 == 0:
            if not sum(_number(data, at + 4 * word, 4) for word in range(4)) & 0xffffffff:
                return None
            wrong = "has a multiboot2 header with a wrong checksum"
        at = data.find(magic, at + 1)
    return wrong


def wrong_with(start: bytes) -> str | None:
    """The problem of an image, by its first SEARCHED bytes. None: they show none."""
    return _elf(start) or _header(start[:SEARCHED])
