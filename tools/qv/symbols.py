# SPDX-License-Identifier: GPL-2.0-only
"""The function of an inmate's image in which an address is, by its ELF symbols."""

from __future__ import annotations

import struct

from .words import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SYMTAB, FUNC = 2, 2
# bytes of an image, symbols that are looked at, bytes of a name: the image may be hostile
MOST, SYMBOLS, NAME = 256 << 20, 1 << 18, 200
# By the class of an ELF file: place of e_shoff and of e_shentsize, then the layouts of a section's
# header (type, offset, size, link) and of a symbol, and where its name, info, value and size are
_CLASSES = {
    1: (0x20, "<I", 0x2E, "<4xI8xIIIII", "<IIIBBH", (0, 3, 1, 2)),
    2: (0x28, "<Q", 0x3A, "<4xI16xQQII", "<IBBHQQ", (0, 1, 4, 5)),
}


def _symbols(image: bytes) -> Iterator[tuple[int, int, int]]:
    """Yields where its name is, value and size of each function."""
    at, word, size_at, section, symbol, places = _CLASSES[image[4]]
    (table,) = struct.unpack_from(word, image, at)
    size, count = struct.unpack_from("<HH", image, size_at)
    headers = [struct.unpack_from(section, image, table + size * i) for i in range(count)]
    # ELF allows one table of symbols
    tables = [one for one in headers if one[0] == SYMTAB]
    _, offset, length, link, *_ = tables[0]
    names, step = headers[link][1], struct.calcsize(symbol)
    most = min(length // step, SYMBOLS)
    for place in range(offset, offset + most * step, step):
        found = struct.unpack_from(symbol, image, place)
        name, info, value, extent = (found[i] for i in places)
        if info & 15 == FUNC:
            yield names + name, value, extent


def function_at(path: str, address: int) -> str:
    """Returns NAME+0xOFFSET; empty if the file does not say."""
    try:
        with open(path, "rb") as stream:
            image = stream.read(MOST)
        if image[:4] != b"\x7fELF" or image[4] not in _CLASSES:
            return ""
        for at, value, size in _symbols(image):
            if value <= address < value + size:
                name = image[at : image.index(b"\0", at, at + NAME)]
                return f"{text(name)}+{address - value:#x}"
    except (OSError, ValueError, IndexError, OverflowError, struct.error):
        pass  # no file, or not as ELF says
    return ""
