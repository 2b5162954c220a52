# SPDX-License-Identifier: GPL-2.0-only
"""The page tables of a CPU: which virtual addresses lead to which physical ones
(Intel SDM volume 3, chapter 4; AMD APM volume 2, chapter 5).

The inmate may have written anything into its tables, so a walk has limits."""

from __future__ import annotations

import struct

from .record import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Read = Callable[[int, int], bytes]

PRESENT, LARGE = 1 << 0, 1 << 7  # bits of an entry
ADDRESS = 0xF_FFFF_FFFF_F000  # of an entry, and of CR3
CR0_PG, CR4_PSE, CR4_PAE, CR4_LA57 = 1 << 31, 1 << 4, 1 << 5, 1 << 12
EFER_LMA = 1 << 10
MOST_TABLES, MOST_RANGES = 65536, 60000


@dataclass(frozen=True)
class Range:
    """`length` bytes from the virtual address on, and from the physical one."""

    virtual: int
    physical: int
    length: int


@dataclass(frozen=True)
class Paging:
    """A form of page tables: the lowest bit and the number of bits of a virtual address that index
    a table, from the root on; which of them are the lowest bit of a large page; bytes of an
    entry."""

    words: str
    levels: tuple[tuple[int, int], ...]
    large: tuple[int, ...]
    entry: int


LONG = ((39, 9), (30, 9), (21, 9), (12, 9))


def paging_of(cr0: int, cr4: int, efer: int) -> Paging | None:
    """Returns the form of the tables in use, or None if the CPU uses none."""
    if not cr0 & CR0_PG:
        return None
    if efer & EFER_LMA:
        if cr4 & CR4_LA57:
            return Paging("5 levels", ((48, 9), *LONG), (30, 21), 8)
        return Paging("4 levels", LONG, (30, 21), 8)
    if cr4 & CR4_PAE:
        return Paging("PAE", ((30, 2), (21, 9), (12, 9)), (21,), 8)
    return Paging("2 levels", ((22, 10), (12, 10)), (22,) if cr4 & CR4_PSE else (), 4)


class Walk:
    """Reads page tables by `read`, which returns as many bytes as it is asked for. `.whole` is
    False if the tables had more than the limits."""

    def __init__(self, paging: Paging, read: Read, memory: int) -> None:
        self._paging, self._read, self._memory = paging, read, memory
        self._tables = 0
        self.whole = True

    def _entries(self, table: int, bits: int) -> Iterator[tuple[int, int]]:
        """Yields the index and the value of each entry that is present."""
        size = self._paging.entry << bits
        if self._tables >= MOST_TABLES:
            self.whole = False
            return
        if table + size > self._memory:
            return
        self._tables += 1
        form = f"<{1 << bits}{'Q' if self._paging.entry == 8 else 'I'}"
        for index, value in enumerate(struct.unpack(form, self._read(table, size))):
            if value & PRESENT:
                yield index, value

    def _pages(self, table: int, level: int, virtual: int) -> Iterator[Range]:
        low, bits = self._paging.levels[level]
        for index, value in self._entries(table, bits):
            at = virtual | index << low
            physical = value & ADDRESS
            if low == 12 or (low in self._paging.large and value & LARGE):
                length = 1 << low
                yield Range(at, physical & -length, length)
            else:
                yield from self._pages(physical, level + 1, at)

    def _inside(self, cr3: int) -> Iterator[Range]:
        """Yields what leads to RAM, with the addresses of the upper half as a CPU writes them."""
        top, bits = self._paging.levels[0]
        half = 1 << (top + bits - 1)
        root = cr3 & (0xFFFF_FFE0 if self._paging.words == "PAE" else ADDRESS)
        for page in self._pages(root, 0, 0):
            length = min(page.length, self._memory - page.physical)
            virtual = page.virtual
            if self._paging.entry == 8 and top >= 39 and virtual & half:
                virtual += (1 << 64) - 2 * half
            if length > 0:
                yield Range(virtual, page.physical, length)

    def ranges(self, cr3: int) -> list[Range]:
        found: list[Range] = []
        for page in self._inside(cr3):
            last = found[-1] if found else None
            if last and (last.virtual + last.length, last.physical + last.length) == (
                page.virtual,
                page.physical,
            ):
                found[-1] = Range(last.virtual, last.physical, last.length + page.length)
            elif len(found) == MOST_RANGES:
                self.whole = False
                break
            else:
                found.append(page)
        return found
