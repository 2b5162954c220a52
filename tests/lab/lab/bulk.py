# SPDX-License-Identifier: GPL-2.0-only
"""Long messages go through a disk that both sides see, since a serial line would need minutes.

A side writes a message's body to its slot and sends only the head, with MARK. The other side reads
the slot and acknowledges. guest/qv-lab-agent is the other side."""

import os
import threading
from pathlib import Path

MARK = 1 << 31     # bit of a head's length: the body is in the slot
LEAST = 256        # bodies of at least this many bytes go through the disk
SECTOR = 512
SLOT = 1 << 20     # bytes
TO_MACHINE, FROM_MACHINE = 48 << 20, 49 << 20  # offsets of the slots, after the files of the run
SIZE = 50 << 20


class Bulk:
    """The host's side of the disk."""

    def __init__(self, path: Path, patience: float = 120.0) -> None:
        self._file = os.open(path, os.O_RDWR)
        self._patience = patience  # seconds to wait for the machine to fetch a body
        self._taken = threading.Event()
        self.lock = threading.Lock()  # the slot's lock, held from put() until the acknowledgement

    def put(self, body: bytes) -> None:
        self._taken.clear()
        os.pwrite(self._file, body, TO_MACHINE)

    def await_taken(self) -> bool:
        return self._taken.wait(self._patience)

    def taken(self) -> None:
        self._taken.set()

    def get(self, size: int) -> bytes:
        return os.pread(self._file, size, FROM_MACHINE)

    def close(self) -> None:
        self._taken.set()
        os.close(self._file)
