# SPDX-License-Identifier: GPL-2.0-only
"""Kernel images with exactly one defect."""

import struct


def image(change: str) -> bytes:
    """Returns a multiboot2 ELF64 with one segment at 1 MiB and the named defect. "" gives a valid
    image."""
    entry, machine, phnum = 0x100040, 62, 1
    offset, address, in_file, in_memory = 0, 0x100000, 0x200, 0x1000
    magic, checksum = 0xe85250d6, 0
    match change:
        case "no header": magic = 0
        case "checksum": checksum = 1
        case "entry": entry = 0x300000
        case "machine": machine = 183
        case "headers": phnum = 0xffff
        case "nothing": phnum = 0
        case "file": in_file, in_memory = 0x100000, 0x100000
        case "sizes": in_file, in_memory = 0x200, 0x100
        case "console": address = 0xb8000
        case "beyond": address = 1 << 40
        case "wraps": address, in_memory = 2**64 - 0x800, 0x1000
        case "offset": offset = 2**64 - 0x100
        case "large": in_memory = 2**63
    elf = struct.pack("<4s5B7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 0, 2, machine, 1, entry, 64, 0, 0, 64, 56, phnum, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 7, offset, address, address, in_file, in_memory, 0x1000)
    length = 24
    header = struct.pack("<IIII", magic, 0, length, (-(0xe85250d6 + length) + checksum) & 0xffffffff)
    end = struct.pack("<HHI", 0, 0, 8)
    return (elf + segment).ljust(0x80, b"\0") + header + end + bytes(0x200 - 0x80 - 24)
