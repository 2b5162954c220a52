# SPDX-License-Identifier: GPL-2.0-only
"""Channels of tests, with files in the place of devices."""

from __future__ import annotations

import struct
from pathlib import Path

from qv import window

LINES = """channels:
  - {name: sensor, type: four-slot, item: 8, writer: quest, readers: [linux, other]}
  - {name: orders, type: ring, item: 16, slots: 4, full: block, writer: linux, readers: [quest],
     owner: ":daemon", mode: 0640}
  - {name: talk, type: mailbox, item: 8, writer: quest, readers: [other], reconnect: never}
"""


class Memory:
    """A channel's memory in a file, which takes the place of a device that has mmap()."""

    def __init__(self, path: Path, sections: list[int]) -> None:
        self.path, self.sections = path, sections
        path.write_bytes(bytes(4096 + 8192 * len(sections)))
        for end in range(len(sections)):
            self.end(end, 5, 1)
            self._put(8 * (window.ENDS + end * window.END_WORDS + window.OFFSET), sections[end])

    def _put(self, at: int, *words: int) -> None:
        with self.path.open("r+b") as file:
            file.seek(at)
            file.write(struct.pack(f"={len(words)}Q", *words))

    def end(self, which: int, generation: int, state: int) -> None:
        self._put(8 * (window.ENDS + which * window.END_WORDS), generation << 8 | state)
        self.word(which, window.GENERATION, generation)

    def word(self, which: int, word: int, value: int) -> None:
        self._put(self.sections[which] + 8 * word, value)
