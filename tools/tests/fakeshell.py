# SPDX-License-Identifier: GPL-2.0-only
"""A cell's console as a file, and a shell behind it, for quesh to talk to.

A file cannot tell keys from the window: quesh writes its keys at the start of
it, where the screen is. The shell finds them there; screen tests type nothing.
"""

from __future__ import annotations

import mmap
import struct
import threading
import time
from pathlib import Path

STREAM, STREAM_LEN = 0x4000, 0x4000
COMM = 0x2000
CURSOR, HEAD = COMM + 16, COMM + 20
LINE_MAX, LINE_STATUS, TOLD = COMM + 28, COMM + 32, 1 << 31
LEAVE = COMM + 48
PROMPT = b"quest> "
READY = b"\x04"


class FakeShell:
    """Answers lines. `hang` ends by ^C, `hang on` never ends, `flood` prints more than the ring can
    hold, `exit N` has status N."""

    def __init__(self, folder: Path, name: str = "quest") -> None:
        path = folder / name / "console"
        path.parent.mkdir(parents=True)
        path.write_bytes(bytes(0x8000))
        with open(path, "r+b") as file:
            self.window = mmap.mmap(file.fileno(), 0x8000)
        self.head = 0
        self.lines: list[bytes] = []
        self.hangs = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> FakeShell:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def put(self, data: bytes) -> None:
        for byte in data:
            self.window[STREAM + self.head % STREAM_LEN] = byte
            self.head = (self.head + 1) & 0xffffffff
        self.window[HEAD:HEAD + 4] = struct.pack("<I", self.head)

    def screen(self, row: int, col: int, words: bytes, attr: int = 7) -> None:
        for i, byte in enumerate(words):
            at = 2 * (80 * row + col + i)
            self.window[at:at + 2] = bytes((byte, attr))

    def cursor(self, row: int, col: int) -> None:
        self.window[CURSOR:CURSOR + 4] = struct.pack("<I", row * 80 + col)

    def number(self, at: int, value: int) -> None:
        self.window[at:at + 4] = struct.pack("<I", value)

    def boot(self) -> None:
        self.put(b"booting\r\n" + PROMPT + READY)

    def _serve(self) -> None:
        while not self._stop.wait(0.002):
            if self.hangs and b"\x03" in self.window[:300]:
                self.window[:300] = bytes(300)
                self.hangs = False
                self.put(b"^C\r\n" + PROMPT + READY)
            end = self.window[:300].find(b"\r")
            if end < 0:
                continue
            # quesh's file offset advances, so zero bytes precede the line
            line = bytes(self.window[:end]).lstrip(b"\0")
            self.window[:300] = bytes(300)
            self.lines.append(line)
            self._answer(line)

    def _answer(self, line: bytes) -> None:
        self.put(line + b"\r\n")
        if line.startswith(b"hang"):
            self.put(b"hanging")
            self.hangs = line == b"hang"
            return
        if line.startswith(b"exit "):
            self.number(LINE_STATUS, TOLD | int(line[5:]))
        if line == b"flood":
            self.put(b"x" * 40 * 1024 + b"\r\n")
        if line == b"slow":
            time.sleep(0.2)
        self.put(b"you said \x1b[31m" + line + b"\x07\r\n")
        self.put(b"and no newline" if line == b"partial" else b"")
        self.put(PROMPT + READY)
