# SPDX-License-Identifier: GPL-2.0-only
"""A command that systemd runs as a service: its reports, and the signals that end it."""

from __future__ import annotations

import os
import select
import signal
import socket
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .device import Device

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Service:
    """Reports by the protocol of sd_notify(3). Without $NOTIFY_SOCKET it sends nothing. From its creation on, a signal to end is remembered instead of ending the program."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self.folder = environment.get("RUNTIME_DIRECTORY", "")
        # seconds within which systemd wants to hear WATCHDOG=1; None: it does not
        usec = environment.get("WATCHDOG_USEC", "")
        mine = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self.watchdog = int(usec) / 1e6 if usec.isdigit() and mine else None
        self.ended = False
        self._wake, sink = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(sink, warn_on_full_buffer=False)
        for number in ENDING:
            signal.signal(number, self._end)

    def _end(self, _number: int, _frame: object) -> None:
        self.ended = True

    def tell(self, *lines: str) -> None:
        if not self._address:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as out:
            try:
                out.sendto("\n".join(lines).encode(), self._address)
            except OSError:
                pass  # systemd is restarting; it asks for nothing that it did not hear

    def wait(self, device: Device, seconds: float) -> bool:
        """Waits for events of the driver, which it discards, a signal, or the time. Returns true if
        the command is to end."""
        self._poll(seconds, device.fd)
        for _ in device.events(0):
            pass
        return self.ended

    def sleep(self, seconds: float) -> bool:
        """Waits as wait() does, but no event ends it."""
        until = time.monotonic() + seconds
        while not self.ended and (left := until - time.monotonic()) > 0:
            self._poll(left)
        return self.ended

    def _poll(self, seconds: float, *more: int) -> None:
        poller = select.poll()
        for descriptor in (self._wake, *more):
            poller.register(descriptor, select.POLLIN)
        if not self.ended:
            poller.poll(seconds * 1000)
        try:
            os.read(self._wake, 64)
        except BlockingIOError:
            pass
