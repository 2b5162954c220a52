#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Pack files into the archive in the image of Quest's kernel: cpio, format 070702 (`cpio -H crc`).

    pack.py OUT FILE...         a FILE that begins as ELF does is marked as a program
"""

import sys
from pathlib import Path

REGULAR = 0o100000
TRAILER = "TRAILER!!!"


def member(number: int, name: str, data: bytes, mode: int) -> bytes:
    """Returns the header with the name, and the data. Each is padded to a multiple of four bytes.
    Times and owners are 0, so the same files make the same archive."""
    text = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(text), sum(data) & 0xFFFFFFFF)
    head = b"070702" + b"".join(b"%08X" % field for field in fields) + text
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


def pack(files: list[Path]) -> bytes:
    out = b""
    for number, path in enumerate(files, 1):
        data = path.read_bytes()
        out += member(number, path.name, data, REGULAR | (0o555 if data[:4] == b"\x7fELF" else 0o444))
    return out + member(0, TRAILER, b"", 0)


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    Path(arguments[0]).write_bytes(pack([Path(name) for name in arguments[1:]]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
