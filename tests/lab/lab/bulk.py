# SPDX-License-Identifier: GPL-2.0-only
"""Long messages by way of a disk that both sides see: a serial line alone would take minutes.

A side writes a message's body to its own slot and sends the head alone, marked; the other reads
the slot and acknowledges. guest/qv-lab-agent is the other side."""

import os
import threading
from pathlib import Path

MARK = 1 << 31     # in a head's length: the body is in the slot
LEAST = 256        # bytes from which on the detour pays
SECTOR = 512
SLOT = 1 << 20     # bytes
TO_MACHINE, FROM_MACHINE = 48 << 20, 49 << 20  # where the slots are; before them lies what a run brings along
SIZE = 50 << 20


class Bulk:
    """Our side of the disk."""

    def __init__(self, path: Path, patience: float = 120.0) -> None:
        self._file = os.open(path, os.O_RDWR)
        self._patience = patience  # seconds to wait for the machine to fetch a body
        self._taken = threading.Event()
        self.lock = threading.Lock()  # held from put() to the acknowledgement

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
