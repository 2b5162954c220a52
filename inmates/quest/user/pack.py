#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Pack files into the archive in the image of Quest's kernel: cpio, format 070702 (`cpio -H crc`).

    pack.py OUT FILE...         a FILE that begins as ELF does is marked as a program

OUT is the archive. If it exists and is none, it stays.
"""

import sys
from pathlib import Path

REGULAR = 0o100000
TRAILER = "TRAILER!!!"
MAGIC = b"0707"         # of any cpio archive in text
FILES, NAME = 64, 31    # ARCHIVE_FILES, and ARCHIVE_NAME without the NUL


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


def wrong(out: Path, files: list[Path]) -> str | None:
    """Returns why Quest would not use the archive, or why writing it would destroy a file."""
    if out.is_file() and out.stat().st_size and not out.read_bytes().startswith(MAGIC):
        return f"{out} is no archive, so it stays: name the archive first, then its files"
    if len(files) > FILES:
        return f"there are {len(files)} files, and Quest takes {FILES}"
    names = [path.name for path in files]
    for name in names:
        if len(name.encode()) > NAME:
            return f"the name {name} has more than {NAME} bytes"
        if names.count(name) > 1:
            return f"two files are named {name}: Quest knows no folders"
    return None


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    out, files = Path(arguments[0]), [Path(name) for name in arguments[1:]]
    try:
        reason = wrong(out, files)
        if not reason:
            out.write_bytes(pack(files))
    except OSError as error:
        reason = f"{error.filename}: {(error.strerror or 'error').lower()}"
    if reason:
        print(f"pack.py: {reason}", file=sys.stderr)
    return 1 if reason else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
