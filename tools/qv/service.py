# SPDX-License-Identifier: GPL-2.0-only
"""A command that systemd runs as a service: its reports, and the signals that end it."""

from __future__ import annotations

import os
import select
import signal
import time

from .journal import Journal, post
from .words import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .device import Device
    from .transcript import Transcript

HEARD = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Service:
    """Reports by the protocol of sd_notify(3). Without $NOTIFY_SOCKET it sends nothing. From its
    creation on, a signal to end is remembered instead of ending the program, and so is SIGHUP,
    which asks a unit's process to read its file again. Such a signal arrives only while the program
    waits here, so it interrupts no call to the driver."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)
        self.ended = self.reload = False
        for number in HEARD:
            signal.signal(number, self._hear)
        self._wake, sink = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(sink, warn_on_full_buffer=False)
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self.journal = Journal(environment)
        self.folder = environment.get("RUNTIME_DIRECTORY", "").partition(":")[0]
        # seconds within which systemd wants to hear WATCHDOG=1; None: it does not
        usec = environment.get("WATCHDOG_USEC", "")
        mine = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self.watchdog = int(usec) / 1e6 if usec.isdigit() and mine else None

    def _hear(self, number: int, _frame: object) -> None:
        """Without systemd SIGHUP says that the terminal is gone."""
        if number == signal.SIGHUP and self.folder:
            self.reload = True
        else:
            self.ended = True

    def tell(self, *lines: str) -> None:
        """Sends a report. If systemd is restarting or busy, it hears the next one."""
        if self._address:
            post(self._address, "\n".join(lines).encode())

    def wait(
        self, device: Device, name: str, seconds: float, console: Transcript | None = None
    ) -> bool:
        """Waits for an event of a cell, output on its console, a signal, or the time. Returns true
        if the command is to end. Events of other cells do not end the wait."""
        until = time.monotonic() + seconds
        consoles = [console.fileno()] if console and self.journal else []
        while not self.ended and not self.reload and (left := until - time.monotonic()) > 0:
            fired = self._poll(left, device.fd, *consoles)
            printed = [fired.get(descriptor, 0) for descriptor in consoles]
            happened = any(text(event.name) == name for event in device.events(0))
            if happened or select.POLLIN in printed:
                break
            if any(printed):
                consoles = []  # the cell does not run: an event says why, at once or soon
        return self.ended

    def sleep(self, seconds: float) -> bool:
        """Waits as wait() does, but no event ends it."""
        until = time.monotonic() + seconds
        while not self.ended and (left := until - time.monotonic()) > 0:
            self._poll(left)
        return self.ended

    def _poll(self, seconds: float, *more: int) -> dict[int, int]:
        """Returns the descriptors that are ready, each with its events."""
        poller = select.poll()
        for descriptor in (self._wake, *more):
            poller.register(descriptor, select.POLLIN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HEARD)
        try:
            # a signal that arrived before this line has written to the pipe
            fired = dict(poller.poll(seconds * 1000))
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)
        try:
            os.read(self._wake, 64)
        except BlockingIOError:
            pass
        return fired
