# SPDX-License-Identifier: GPL-2.0-only
"""Presses the buttons of Bochs's window, and keys, over RFB, the only way to control Bochs while it runs."""

import os
import select
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path

from .errors import LabError

# size in pixels; the buttons from the right edge: power, save, reset
BUTTON = 32
SAVE, RESET = 2, 3
POINTER = struct.Struct(">BBHH")
KEY = struct.Struct(">BBxxI")
ALT, PRINT = 0xFFE9, 0xFF61      # keysyms of X
LISTENING = "0A"                 # the state's code in /proc/net/tcp
TIMEOUT = 30.0                   # seconds to wait for an answer of a busy emulator


def _exactly(wire: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = wire.recv(size - len(data))
        if not part:
            raise OSError("Bochs closed its window")
        data += part
    return data


def window(pid: int) -> int:
    """Returns the port of a Bochs process's window. Bochs takes the first free port from 5900
    on."""
    ours = {os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir()}
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == LISTENING and f"socket:[{fields[9]}]" in ours:
            return int(fields[1].split(":")[1], 16)
    raise LabError("Bochs has no window", "look whether ports 5900 to 5949 are all taken")


def type_chord(port: int, keysyms: list[int]) -> None:
    """Presses keys one after the other, and releases them in the opposite order."""
    _send(port, lambda width: b"".join([KEY.pack(4, 1, key) for key in keysyms] +
                                       [KEY.pack(4, 0, key) for key in reversed(keysyms)]))


def press(port: int, button: int) -> None:
    """Presses one of the buttons on the right of the header bar."""
    def click(width: int) -> bytes:
        place = (width - button * BUTTON + BUTTON // 2, BUTTON // 2)
        return POINTER.pack(5, 1, *place) + POINTER.pack(5, 0, *place)
    _send(port, click)


def _send(port: int, events: Callable[[int], bytes]) -> None:
    """Sends what `events` returns for the width of the window."""
    with socket.create_connection(("127.0.0.1", port), TIMEOUT) as wire:
        _exactly(wire, 12)
        wire.sendall(b"RFB 003.003\n")
        _exactly(wire, 4)          # no authentication
        wire.sendall(b"\1")        # shared
        width, _, name = struct.unpack(">HH16xI", _exactly(wire, 24))
        _exactly(wire, name)
        wire.sendall(events(width))
        # Bochs has to read it before the connection closes. Meanwhile it may send the screen
        end = time.monotonic() + 1.0
        while (left := end - time.monotonic()) > 0 and select.select([wire], [], [], left)[0]:
            if not wire.recv(65536):
                return
