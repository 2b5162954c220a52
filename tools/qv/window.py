# SPDX-License-Identifier: GPL-2.0-only
"""The words of a channel that Linux may read: by mmap() of its device, without taking an item.

The format is that of include/qv/channel.h. All values of the other ends are their claims."""

from __future__ import annotations

import fcntl
import mmap
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

GET_WINDOW = 2 << 30 | 16 << 16 | ord("q") << 8 | 0x60  # QV_CHANNEL_WINDOW
WINDOW = struct.Struct("=IIQ")  # struct qv_channel_window
WORD = 8  # bytes
# Indices of words in struct qv_chan_page
ENDS, END_WORDS = 32, 8
LIFE, OFFSET = 0, 1
# Indices of words in struct qv_chan_section
GENERATION, BOUND, COUNT, LOST, REFUSED, FREED, HIGH, SLOT = 0, 1, 8, 17, 18, 19, 20, 24
DATA = 512  # QV_CHAN_DATA
STOPPED, FAILED = 2, 3  # enum qv_chan_state
MASK = (1 << 64) - 1


class Counts:
    """The state of a channel. `error` says in a word why its next item may not come."""

    def __init__(self) -> None:
        self.items = 0  # published; four-slot: the number of the last
        self.occupancy: int | None = None  # items in a ring
        self.high: int | None = None  # the most items that the ring's reader found
        self.lost: int | None = None  # items that a ring dropped or its reader missed
        self.overruns: int | None = None  # writes that found the ring full
        self.error: str | None = None  # absent, stopped, failed or corrupt

    def members(self) -> dict[str, int | str | None]:
        return {
            "items": self.items,
            "occupancy": self.occupancy,
            "high_water": self.high,
            "lost": self.lost,
            "overruns": self.overruns,
            "error": self.error,
        }


class Window:
    """A channel's memory, read-only. Raises OSError if the channel has no memory: ENODEV
    before an end of a cell has started."""

    def __init__(self, path: str, kind: str, item: int, slots: int, ends: int) -> None:
        self._kind, self._slots, self._ends = kind, slots, ends
        self._stride = (16 + item + 15) & ~15  # QV_CHAN_STRIDE
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            found = fcntl.ioctl(descriptor, GET_WINDOW, bytes(WINDOW.size))
            _abi, _end, length = WINDOW.unpack(found)
            self._map = mmap.mmap(descriptor, length, mmap.MAP_SHARED, mmap.PROT_READ)
        finally:
            os.close(descriptor)
        # a load of one aligned word each, which struct.unpack() does not promise
        self._words = memoryview(self._map).cast("Q")

    def __enter__(self) -> Window:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _where: TracebackType | None,
    ) -> None:
        self._words.release()
        self._map.close()

    def _end(self, which: int, word: int) -> int:
        return self._words[ENDS + which * END_WORDS + word]

    def _section(self, which: int, word: int) -> int:
        """A word of the section of an end; 0 if the section is not inside the window."""
        at = self._end(which, OFFSET) // WORD + word
        return self._words[at] if at < len(self._words) else 0

    def _number(self, pair: int, slot: int) -> int:
        """The number of the item in a slot of a four-slot."""
        return self._section(0, (DATA + (2 * pair + slot) * self._stride) // WORD + 1)

    def attached(self, which: int) -> bool:
        """Returns whether a program of this end has opened the channel since the end started."""
        generation = self._end(which, LIFE) >> 8
        return bool(generation) and self._section(which, GENERATION) == generation

    def _dead(self) -> str | None:
        """Why the writer brings nothing more."""
        if not self.attached(0):
            return "absent"
        return {STOPPED: "stopped", FAILED: "failed"}.get(self._end(0, LIFE) & 0xFF)

    def _taken(self) -> int:
        """The items that the ring's reader has taken. If the reader is not bound to this life of
        the writer, its count is of another life, and the writer knows where it will begin."""
        bound, taken = self._section(1, BOUND), self._section(1, COUNT)
        return taken if bound == self._end(0, LIFE) >> 8 else self._section(0, FREED)

    def _belongs_to(self, life: int) -> bool:
        """Returns whether the writer's words are of this life. Its section is zeroed after its life
        word has changed, so other words may not fit each other."""
        return self._end(0, LIFE) >> 8 == life and self.attached(0)

    def _ring(self, counts: Counts) -> None:
        life = self._end(0, LIFE) >> 8
        taken, counts.items = self._taken(), self._section(0, COUNT)
        waiting = counts.items - taken & MASK
        if waiting > self._slots:  # the reader lapped, or not bound yet; else a count is wrong
            waiting = self._slots
        counts.occupancy, counts.high = waiting, self._section(1, HIGH)
        counts.lost = self._section(0, LOST) + self._section(1, LOST)
        counts.overruns = self._section(0, REFUSED)
        if taken > counts.items and self._belongs_to(life):
            counts.error = "corrupt"

    def _four_slot(self, counts: Counts) -> None:
        pair = self._section(0, COUNT)
        slot = self._section(0, SLOT + pair) if pair < self._ends else 2
        if slot > 1:
            counts.error = "corrupt"
        else:
            counts.items = self._number(pair, slot)

    def counts(self) -> Counts:
        counts = Counts()
        if self._kind == "memory":
            return counts
        counts.error = self._dead()
        if self._kind == "ring":
            self._ring(counts)
        elif self._kind == "four-slot":
            self._four_slot(counts)
        else:
            counts.items = self._section(0, COUNT) + self._section(1, COUNT)
        return counts
