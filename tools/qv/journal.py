# SPDX-License-Identifier: GPL-2.0-only
"""Entries with fields in the journal of systemd, by its native protocol.

The kinds of entries are in KINDS. tools/systemd/qv.catalog explains each to `journalctl -x`."""

from __future__ import annotations

import os
import socket

from .record import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SOCKET = "/run/systemd/journal/socket"
ERROR, WARNING, NOTICE, INFO = 3, 4, 5, 6  # priorities of syslog(3)


@dataclass(frozen=True)
class Kind:
    """A kind of entry: its message id, and its priority."""

    id: str
    priority: int


KINDS = {
    "running": Kind("2a84e2730a354c249615693214e4257f", INFO),
    "taken-over": Kind("e249e5e6e8d04948ab64c81dd78b6e9c", NOTICE),
    "replaced": Kind("ba152cf2d4fe48bc8f499237e11d6138", NOTICE),
    "kept": Kind("58bbabe828da4572a52d02987319495b", ERROR),
    "unchanged": Kind("e60694fa916c477786064c147e58fc81", INFO),
    "failed": Kind("3879bfba34894cb7b76c45d8c97923e2", ERROR),
    "given-up": Kind("a455e05cdcb148019d7253d7231ba8e6", ERROR),
    "delayed": Kind("8dec5ade96714269bcf126c20d850b64", WARNING),
    "ended-elsewhere": Kind("e52489d09bd240508c1bb20ef21e2291", NOTICE),
    "shut-down": Kind("f256b7b49a5344cdaf6a9dc382e41919", INFO),
    "stopped-by-force": Kind("43dc6a1ac3714dc4acf67457f7034952", WARNING),
    "console": Kind("11897face70a4d0f84cbb213e518bd04", INFO),
    "console-lost": Kind("c1c63b61a42141dd8c74b97a77219103", WARNING),
    "held": Kind("042c4601f9294f91ba20dca75c8612d5", ERROR),
    "recovered": Kind("a040ad75591448eb8170f84c58c2e80f", NOTICE),
    "component-recovered": Kind("4395c8a34d244210bc78406b9868ae40", NOTICE),
    "component-fault": Kind("0808387e44644788bc16deb5d9ba8d04", WARNING),
    "component-lost": Kind("ba4687bf57e24a66b415a9b9506c334c", ERROR),
    "replica-outvoted": Kind("d40847395252415e9fb0125329cf9412", WARNING),
    "component-left": Kind("9c0b6f2d0c3a4a0f8f5e1b7a64d2e913", WARNING),
    "began-again": Kind("691ab2ebcaa54e2a8b17b5b4333f9aea", ERROR),
}


def post(address: str, datagram: bytes) -> bool:
    """Sends a datagram. Returns false if the receiver is away or busy. Never blocks: libsystemd,
    and so python3-systemd, waits while systemd or the journal hangs, but a failed cell must start
    again meanwhile."""
    how = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
    with socket.socket(socket.AF_UNIX, how) as out:
        try:
            out.sendto(datagram, address)
        except OSError:
            return False
    return True


def encoded(fields: Mapping[str, str]) -> bytes:
    """Returns the datagram of an entry. A value with a newline has its length before it."""
    parts = []
    for name, value in fields.items():
        raw = value.encode("utf-8", "replace")
        parts.append(
            name.encode()
            + (b"\n" + len(raw).to_bytes(8, "little") if b"\n" in raw else b"=")
            + raw
            + b"\n"
        )
    return b"".join(parts)


class Journal:
    """Sends entries, if the standard output of this process goes to the journal. systemd adds the
    unit to each."""

    def __init__(self, environment: Mapping[str, str], address: str = SOCKET) -> None:
        self._address = address if self._ours(environment.get("JOURNAL_STREAM", "")) else ""

    @staticmethod
    def _ours(stream: str) -> bool:
        try:
            output = os.fstat(1)
        except OSError:
            return False
        return stream == f"{output.st_dev}:{output.st_ino}"

    def __bool__(self) -> bool:
        return bool(self._address)

    def send(self, kind: str, words: str, **fields: str) -> bool:
        """Returns false if the entry was not sent: print it instead."""
        if not self._address:
            return False
        entry = {
            "MESSAGE": words,
            "MESSAGE_ID": KINDS[kind].id,
            "PRIORITY": str(KINDS[kind].priority),
            "SYSLOG_IDENTIFIER": "qv-console" if kind == "console" else "qvctl",
            "QV_EVENT": kind,
            **fields,
        }
        return post(self._address, encoded(entry))
