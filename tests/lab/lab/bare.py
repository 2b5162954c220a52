# SPDX-License-Identifier: GPL-2.0-only
"""A bare emulated PC without Linux, driven by its serial port: Quest alone and the fake cell run on it."""
import fcntl
import os
import re
import select
import subprocess
import time
from pathlib import Path

from .paths import TOP

QEMU = "qemu-system-x86_64"
MATCH_MAX = 1 << 16      # what expect() finds is not longer: older text is not searched again and again
# A clock that counts instructions: what is measured does not depend on the host. With x2APIC QEMU ends there by itself
# ("Bad icount read"). No VGA: its memory is slow, a long text takes ten times longer.
COUNTED = ("-cpu", "max,-x2apic", "-vga", "none", "-icount", "shift=0,sleep=off")


def build_dir() -> Path:
    """Where `make O=` put its output."""
    return Path(os.environ.get("O", TOP / "build"))


def build() -> None:
    """Quest, the fake cell and the image with the programs for tests; one worker at a time."""
    build_dir().mkdir(parents=True, exist_ok=True)
    with open(build_dir() / "quest-tests.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for part, target in (("inmates", "all"), ("inmates/tests", "fakecell"), ("inmates/tests", "image")):
            subprocess.run(["make", "-s", "-C", str(TOP / part), f"O={build_dir()}", target], check=True)


def quest(name: str) -> Path:
    return build_dir() / "inmates/quest" / name


def until(condition, timeout: float = 120) -> bool:
    """Ask again and again (each time is a round trip to the machine) until it is so, on however busy a host."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Machine:
    """Start QEMU with `args`; text and keys go over the serial port."""

    def __init__(self, *args: str, memory: str = "64M", accel: str = "tcg"):
        command = [QEMU, "-accel", accel, "-cpu", "max", "-m", memory, "-nic", "none",
                   "-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot", *args]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.fd = self.process.stdout.fileno()
        self.text = ""      # all output so far
        self.seen = 0       # what earlier expect() calls have used up
        self.spoilt = False     # a test has failed here: the next one gets another machine

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def _read(self, seconds: float) -> bool:
        if not select.select([self.fd], [], [], max(0.0, seconds))[0]:
            return True
        data = os.read(self.fd, 65536)
        self.text += data.decode("latin-1").replace("\r", "")
        return bool(data)

    def expect(self, pattern: str, timeout: float = 120) -> re.Match:
        """Wait for a regular expression in new output; what comes up to its end is then used up."""
        end, start = time.monotonic() + timeout, self.seen
        while True:
            match = re.compile(pattern).search(self.text, start)
            if match:
                self.seen = match.end()
                return match
            start = max(start, len(self.text) - MATCH_MAX)
            if time.monotonic() > end or not self._read(end - time.monotonic()):
                raise AssertionError(f"no {pattern!r} in {timeout:g} s after:\n{self.text[self.seen:][-3000:]}")

    def send(self, keys: str) -> None:
        self.process.stdin.write(keys.encode("latin-1"))
        self.process.stdin.flush()

    def silent(self, seconds: float) -> bool:
        """Does nothing more come for a while?"""
        end, before = time.monotonic() + seconds, len(self.text)
        while time.monotonic() < end and self._read(end - time.monotonic()):
            pass
        return len(self.text) == before

    def exit_status(self, timeout: float = 120) -> int:
        """Wait for QEMU to end by itself."""
        end = time.monotonic() + timeout
        while self._read(max(0.1, end - time.monotonic())) and time.monotonic() < end:
            pass
        return self.process.wait(max(1, end - time.monotonic()))


class Shell:
    """Quest's shell on a machine. `ready` is what stands behind the output of a command."""

    def __init__(self, machine: Machine, ready: str):
        self.machine = machine
        self.ready = ready
        machine.expect(ready)

    def run(self, line: str) -> str:
        """Type a line; returns what the command printed."""
        self.machine.send(line + "\r")
        self.machine.expect(re.escape(line) + "\n")
        start = self.machine.seen
        match = self.machine.expect(self.ready)
        return self.machine.text[start:match.start()]

    def start(self, line: str) -> None:
        """Type a line whose command does not come back."""
        self.machine.send(line + "\r")
        self.machine.expect(re.escape(line) + "\n")
