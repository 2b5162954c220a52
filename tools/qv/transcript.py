# SPDX-License-Identifier: GPL-2.0-only
"""The lines that an inmate prints, as they come. Its console pages are mapped and read only."""

from __future__ import annotations

import mmap
import os
import re
import struct
import time

from . import abi, recovery
from .latency import Histogram, parse
from .words import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .recovery import Block, News

FOLDER = "/dev/qv-cell"
# places in the console pages: of struct qv_comm, qv_recovery, qv_latency, and of the stream
COMM, RECOVERY, LATENCY, STREAM = 0x2000, 0x2400, 0x3000, 0x4000
RUNNING = 1  # QV_INMATE_RUNNING: the state of an inmate that is ready, and not yet ended
STATE, HEAD = COMM + 8, COMM + 20  # members of struct qv_comm
LEN = abi.CONSOLE_LEN - STREAM
READY = b"\x04"  # QV_STREAM_READY: the text before it in its line is a prompt
LONGEST = 1000  # bytes of a line; a longer line is split
TRIES = 20  # to copy the recovery block while the inmate does not change it, 1 ms each
LINES, SECONDS = 200, 1.0  # most lines in this time: the journal would drop entries of the unit
MOST = 20  # outages in that time, after which those that follow wait for the next


# As in quesh/escape.c: ESC [ ... letter (colours, the cursor), ESC ] ... BEL and the like (titles),
# ESC and a letter. The end of the line ends each.
SEQUENCE = re.compile(
    rb"\x1b(?:\[[^\x40-\x7e]*[\x40-\x7e]?|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)?"
    rb"|[\x20-\x2f]*[\x30-\x7e]?)"
)
# a sequence whose end is yet to come
BEGUN = re.compile(rb"\x1b(?:\[[^\x40-\x7e]*|[\]PX^_][^\x07\x1b]*|[\x20-\x2f]*)")


def divided(line: bytes) -> tuple[bytes, bytes]:
    """Returns a part of a line without escape sequences, and the begin of the sequence in which the
    part ends. Of a long sequence that begin is its kind alone."""
    last = None
    for last in SEQUENCE.finditer(line):
        pass
    if last is None or last.end() != len(line) or not BEGUN.fullmatch(last[0]):
        return plain(line), b""
    return plain(line[: last.start()]), last[0] if len(last[0]) < LONGEST else last[0][:2]


def plain(line: bytes) -> bytes:
    """Returns a line without escape sequences."""
    return SEQUENCE.sub(b"", line)


class Transcript:
    """The output of a cell from its start on, or from the creation of this object if the cell runs
    already."""

    def __init__(self, name: str, folder: str = FOLDER) -> None:
        self._fd = os.open(
            os.path.join(folder, name, "console"), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
        )
        try:
            self._pages = mmap.mmap(self._fd, abi.CONSOLE_LEN, mmap.MAP_SHARED, mmap.PROT_READ)
        except OSError:
            os.close(self._fd)
            raise
        self._position = self._word(HEAD)
        self._partial = b""
        self._since, self._count, self._left_out = 0.0, 0, 0
        self._told_since, self._told = 0.0, 0
        self.lost = 0  # bytes that the ring lost, since the last look at this number
        self._recoveries = recovery.Recoveries()
        self._recoveries.skip(self.recovery())

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        self._pages.close()
        os.close(self._fd)

    def pages(self) -> bytes:
        return self._pages[:]

    def histograms(self) -> list[Histogram]:
        return parse(self._pages[LATENCY:STREAM])

    def recovery(self) -> Block:
        """Copies the block while the inmate does not change it. If it always does, or failed
        meanwhile, the parts of the last copy may not fit each other."""
        for _ in range(TRIES):
            before = self._word(RECOVERY + recovery.SEQ)
            copy = self._pages[RECOVERY : RECOVERY + recovery.LENGTH]
            if not before & 1 and self._word(RECOVERY + recovery.SEQ) == before:
                break
            time.sleep(0.001)
        return recovery.parse(copy)

    def recoveries(self, now: float, end: bool = False) -> list[News]:
        """Returns the outages of components since the last call, as Recoveries.news() does. After
        MOST in a second there are none until it is over, or until the life ends with `end`."""
        if now - self._told_since >= SECONDS:
            self._told_since, self._told = now, 0
        if self._told >= MOST and not end:
            return []
        news = list(self._recoveries.news(self.recovery()))
        self._told += len(news)
        return news

    def kept(self) -> str:
        """Returns what the ring holds now, as text."""
        self._position = (self._word(HEAD) - LEN) & 0xFFFFFFFF if self._word(HEAD) > LEN else 0
        whole = (
            plain(line.replace(READY, b"").rstrip(b"\r")) for line in self._read().split(b"\n")
        )
        return "".join(
            f"{text(line.decode('cp437').expandtabs().encode())}\n" for line in whole if line
        )

    def restart(self) -> None:
        """The next life begins: the driver clears the console pages."""
        self._position, self._partial = 0, b""
        self._recoveries = recovery.Recoveries()

    def is_ready(self) -> bool:
        """The inmate says that it runs."""
        return self._word(STATE) >= RUNNING

    def has_ended(self) -> bool:
        """The inmate has ended by itself: it no longer has a heartbeat."""
        return self._word(STATE) > RUNNING

    def _word(self, at: int) -> int:
        word: int = struct.unpack_from("<I", self._pages, at)[0]
        return word

    def _skip_lost(self) -> int:
        """Skips bytes that the inmate has overwritten. Returns how many can be read."""
        there = (self._word(HEAD) - self._position) & 0xFFFFFFFF
        if there > LEN:
            self.lost += there - LEN
            self._position = (self._position + there - LEN) & 0xFFFFFFFF
            there = LEN
        return there

    def _read(self) -> bytes:
        length = self._skip_lost()
        start = self._position
        at = start % LEN
        data = self._pages[STREAM + at : STREAM + min(at + length, LEN)]
        data += self._pages[STREAM : STREAM + max(at + length - LEN, 0)]  # from the ring's begin
        self._skip_lost()  # overwritten during the copy
        gone = (self._position - start) & 0xFFFFFFFF
        self._position = (start + length) & 0xFFFFFFFF if gone < length else self._position
        return data[gone:]

    def lines(self, now: float, end: bool = False) -> Iterator[str]:
        """Yields the lines since the last call. With `end`, the last line needs no newline."""
        *whole, self._partial = (self._partial + self._read()).split(b"\n")
        self._partial = self._partial.rpartition(READY)[2]
        if end:
            whole.append(self._partial)
            self._partial = b""
        elif len(self._partial) > LONGEST:
            part, self._partial = divided(self._partial)
            whole.append(part)
        for line in whole:
            yield from self._counted(plain(line.rpartition(READY)[2].rstrip(b"\r")), now)

    def _counted(self, line: bytes, now: float) -> Iterator[str]:
        if not line:
            return
        if now - self._since >= SECONDS:
            if self._left_out:
                yield f"({self._left_out} lines were left out: more than {LINES} came in a second)"
            self._since, self._count, self._left_out = now, 0, 0
        self._count += 1
        if self._count > LINES:
            self._left_out += 1
            return
        for at in range(0, len(line), LONGEST):
            yield text(line[at : at + LONGEST].decode("cp437").expandtabs().encode())
