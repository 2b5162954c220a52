# SPDX-License-Identifier: GPL-2.0-only
"""A bare emulated PC without Linux, driven by its serial port: Quest alone and the fake cell run on it."""
import fcntl
import os
import re
import select
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from .paths import TOP

QEMU = "qemu-system-x86_64"
# limit for the length of an expect() match, so that old text is not searched again
MATCH_MAX = 1 << 16
# A clock that counts instructions, so measurements do not depend on the host. With x2APIC QEMU then
# ends by itself ("Bad icount read"). There is no VGA, since its memory is slow: a long text takes
# ten times as long.
COUNTED = ("-cpu", "max,-x2apic", "-vga", "none", "-icount", "shift=0,sleep=off")


def build_dir() -> Path:
    """Returns the build folder of `make O=`."""
    return Path(os.environ.get("O", TOP / "build"))


def build() -> None:
    """Builds the inmates, the fake cell and the test images; one worker at a time."""
    build_dir().mkdir(parents=True, exist_ok=True)
    with open(build_dir() / "quest-tests.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for part, target in (("inmates", "all"), ("inmates/tests", "fakecell"), ("inmates/tests", "image"),
                             ("inmates/tests/erika/machine", "all")):
            subprocess.run(["make", "-s", "-C", str(TOP / part), f"O={build_dir()}", target], check=True)


def quest(name: str) -> Path:
    return build_dir() / "inmates/quest" / name


def until(condition: Callable[[], object], timeout: float = 600) -> bool:
    """Asks until the answer is true, with a long limit for a busy host. Each question is a round
    trip to the machine."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Machine:
    """Starts QEMU with `args`. Text and keys go over the serial port."""

    def __init__(self, *args: str, memory: str = "64M", accel: str = "tcg") -> None:
        command = [QEMU, "-accel", accel, "-cpu", "max", "-m", memory, "-nic", "none",
                   "-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot", *args]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        assert self.process.stdin and self.process.stdout
        self._keys = self.process.stdin
        self.fd = self.process.stdout.fileno()
        self.text = ""      # all output of the machine so far
        self.seen = 0       # position in the output up to which expect() calls have read
        self.spoilt = False     # after a failed test the next test gets a new machine

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def _read(self, seconds: float) -> bool:
        if not select.select([self.fd], [], [], max(0.0, seconds))[0]:
            return True
        data = os.read(self.fd, 65536)
        self.text += data.decode("latin-1").replace("\r", "")
        return bool(data)

    def expect(self, pattern: str, timeout: float = 600) -> re.Match[str]:
        """Waits for a regular expression in new output. The next call searches after the match."""
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
        self._keys.write(keys.encode("latin-1"))
        self._keys.flush()

    def silent(self, seconds: float) -> bool:
        """Returns True if no output comes for a while."""
        end, before = time.monotonic() + seconds, len(self.text)
        while time.monotonic() < end and self._read(end - time.monotonic()):
            pass
        return len(self.text) == before

    def exit_status(self, timeout: float = 600) -> int:
        """Waits until QEMU ends by itself."""
        end = time.monotonic() + timeout
        while self._read(max(0.1, end - time.monotonic())) and time.monotonic() < end:
            pass
        return self.process.wait(max(1, end - time.monotonic()))


class Shell:
    """Quest's shell on a machine. `ready` is the pattern that follows the output of a command."""

    def __init__(self, machine: Machine, ready: str) -> None:
        self.machine = machine
        self.ready = ready
        machine.expect(ready)

    def run(self, line: str) -> str:
        """Types a line. Returns what the command printed."""
        self.machine.send(line + "\r")
        self.machine.expect(re.escape(line) + "\n")
        start = self.machine.seen
        match = self.machine.expect(self.ready)
        return self.machine.text[start:match.start()]

    def start(self, line: str) -> None:
        """Types a line whose command does not return."""
        self.machine.send(line + "\r")
        self.machine.expect(re.escape(line) + "\n")
