# SPDX-License-Identifier: GPL-2.0-only
"""The host's end of the wire to the agent in the machine (guest/qv-lab-agent)."""

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any

from .bulk import LEAST, MARK, Bulk

HEAD = struct.Struct("<cII")
CHUNK = 65536


class Running:
    """A command in the machine."""

    def __init__(self, channel: "Channel", number: int,
                 sink: Callable[[bytes], None] | None) -> None:
        self._channel, self.number, self._sink = channel, number, sink
        self._out: list[bytes] = []
        self._err: list[bytes] = []
        self.rc: int | None = None
        self.error = ""
        self.ended = threading.Event()

    @property
    def output(self) -> bytes:
        """Returns all output of the command so far."""
        return b"".join(self._out)

    @property
    def errors(self) -> bytes:
        return b"".join(self._err)

    def write(self, data: bytes) -> None:
        for at in range(0, len(data), CHUNK):
            self._channel.send(b"I", self.number, data[at:at + CHUNK])

    def close(self) -> None:
        """Ends the command's input."""
        self._channel.send(b"I", self.number, b"")

    def resize(self, rows: int, columns: int) -> None:
        self._channel.send(b"W", self.number, json.dumps([rows, columns]).encode())

    def kill(self, number: int = 9) -> None:
        self._channel.send(b"K", self.number, json.dumps(number).encode())

    def receive(self, kind: bytes, body: bytes) -> None:
        if kind == b"X":
            end = json.loads(body)
            self.rc, self.error = end["rc"], end.get("error", "")
            self.ended.set()
            return
        (self._err if kind == b"E" else self._out).append(body)
        if self._sink:
            self._sink(body)


class Channel:
    """The connection to the agent. Any number of commands may run at a time."""

    def __init__(self, wire: socket.socket, bulk: Bulk | None = None) -> None:
        self._socket, self._bulk = wire, bulk
        # A machine counts as lost if it reads nothing for 60 s
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 60, 0))
        self._lock = threading.Lock()
        self._number = 0
        self._commands: dict[int, Running] = {}
        self.hello = threading.Event()
        self.boots = 0  # number of hello frames
        self.lost = threading.Event()
        threading.Thread(target=self._receive, daemon=True).start()

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise OSError("the machine is gone")
            data += part
        return data

    def _receive(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                kind, number, size = HEAD.unpack(self._read(HEAD.size))
                if size & MARK and self._bulk:
                    body = self._bulk.get(size & ~MARK)
                    self._head(b"A", number, 0)
                else:
                    body = self._read(size)
                if kind == b"A" and self._bulk:
                    self._bulk.taken()
                elif kind == b"H":
                    self.boots += 1
                    self.hello.set()
                elif command := self._commands.get(number):
                    command.receive(kind, body)
        self.lost.set()

    def _head(self, kind: bytes, number: int, size: int, body: bytes = b"") -> None:
        if self.lost.is_set():
            return  # each attempt would take the whole timeout of the socket
        with self._lock:
            try:
                self._socket.sendall(HEAD.pack(kind, number, size) + body)
            except OSError:
                self.lost.set()  # a thread that waits for an answer checks this

    def send(self, kind: bytes, number: int, body: bytes) -> None:
        if not self._bulk or len(body) < LEAST:
            self._head(kind, number, len(body), body)
            return
        with self._bulk.lock:
            self._bulk.put(body)
            self._head(kind, number, len(body) | MARK)
            if not self._bulk.await_taken():
                self.lost.set()

    def start(self, wanted: dict[str, Any], sink: Callable[[bytes], None] | None = None) -> Running:
        """Starts a command. `wanted` has argv, tty, merge, env and cwd."""
        with self._lock:
            self._number += 1
            number = self._number
        command = self._commands[number] = Running(self, number, sink)
        self.send(b"R", number, json.dumps(wanted).encode())
        return command

    def forget(self, command: Running) -> None:
        self._commands.pop(command.number, None)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
