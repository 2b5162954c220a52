# SPDX-License-Identifier: GPL-2.0-only
"""Which functions object files define: the symbol table of ELF, for x86-64."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little-endian
SYMBOLS = 2  # sh_type of a symbol table
SYMBOL_SIZE = 24
LOCAL, WEAK = 0, 2  # of st_info >> 4
FILE = 4  # of st_info & 15
SLIM = "__gnu_lto_slim"  # the file has no machine code: only the linker's plug-in can read it


@dataclass
class Object:
    """An object file. `source` is the name of its C file, without folders. `defined` are its
    global symbols, `weak` those of them that another file may define, too."""

    path: Path
    source: str = ""
    defined: set[str] = field(default_factory=set)
    weak: set[str] = field(default_factory=set)


def read(path: Path) -> Object | None:
    """Returns the symbols of a file, or None if this cannot tell what it defines: an archive, a
    file of link-time optimization, no object file. Raises OSError."""
    data = path.read_bytes()
    if data[:6] != MAGIC:
        return None
    try:
        found = _symbols(path, data)
    except (struct.error, ValueError):
        return None
    return None if SLIM in found.defined else found


def _symbols(path: Path, data: bytes) -> Object:
    found = Object(path)
    (at,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    heads = [struct.unpack_from("<IIQQQQI", data, at + number * size) for number in range(count)]
    for _, kind, _, _, offset, length, link in heads:
        if kind != SYMBOLS:
            continue
        names = heads[link][4] if link < count else len(data)
        for place in range(offset, offset + length, SYMBOL_SIZE):
            name, info, _, section = struct.unpack_from("<IBBH", data, place)
            text = _text(data, names + name)
            if info & 15 == FILE:
                found.source = text
            elif info >> 4 != LOCAL and section:
                found.defined.add(text)
                if info >> 4 == WEAK:
                    found.weak.add(text)
    return found


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("utf-8", "replace")
