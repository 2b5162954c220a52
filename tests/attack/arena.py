# SPDX-License-Identifier: GPL-2.0-only
"""A machine for attacks: QV is enabled, and a witness cell and a witness in Linux send
heartbeats."""

import functools
import json
import queue
import shutil
import subprocess
import time
import weakref
from pathlib import Path
from typing import Any

from lab import build, enter, images, roots
from lab.errors import GuestTimeout, MachineDead
from lab.machine import Machine
from lab.paths import BUILD
from product import KERNEL_TROUBLE
from product import program as product_program

HERE = Path(__file__).resolve().parent
WITNESS_CPU = 2
ATTACK_CPUS = [3, 1]


def image() -> Path:
    """Builds the hostile inmate in the tool root. Returns its path."""
    with build.lock():
        done = enter.run(roots.ensure("tool"), ["make", "-s", "--no-print-directory", "-C", str(HERE / "inmate"),
                                                f"O={build.OUT}"])
        assert done.returncode == 0, done.stdout
    return build.OUT / "attack/attack.elf"


def program(name: str) -> Path:
    """Compiles programs/NAME.c so that it runs in any machine. Returns its path."""
    place = BUILD / f"lab/attack/{name}"
    with build.lock():
        place.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-pthread", "-o", str(place),
                        str(HERE / f"programs/{name}.c")], check=True)
    return place


def lab_program(name: str) -> Path:
    """Returns the path of one of the lab's programs."""
    return product_program(name)


@functools.cache
def front_module(kernel: str) -> Path:
    """Builds front/qvfront for one of the lab's kernels. Returns its path."""
    with build.lock():
        place = BUILD / f"lab/attack/qvfront-{kernel}"
        shutil.copytree(HERE / "front/qvfront", place, dirs_exist_ok=True)
        found = images.kernel(kernel)
        done = enter.run(found.root, ["make", "-s", "-C", f"/lib/modules/{found.version}/build", f"M={place}", "modules"])
        assert done.returncode == 0, done.stdout
    return place / "qvfront.ko"


class Arena:
    """Talks to inside/attack-server, which runs in the machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = weakref.proxy(machine)
        self._answers: queue.Queue[bytes] = queue.Queue()
        self._partial = b""
        self._mode = "machine"
        self.hidden: list[int] = []  # the attacks in front/ use this list and `messages`
        self.messages = 0
        self.rested = False  # whether the last request was `neighbours`
        self.peer_pages: list[int] = []  # of the cells in front/channels.py
        machine.put(image(), "/run/attack/attack.elf")
        machine.put(program("beat"), "/run/attack/beat")
        machine.put(HERE / "inside/attack-server", "/run/attack/attack-server")
        machine.run("modprobe msr; dmesg -C")
        self._running = machine.start("exec python3 /run/attack/attack-server", sink=self._take, merge=False)
        # A beat of Linux costs the emulator 0.4 ms. Only gaps.py measures gaps
        beat = 1 if machine.config.icount else 4
        self.ask("begin", witness=WITNESS_CPU, cpus=ATTACK_CPUS, beat=beat,
                 trouble=KERNEL_TROUBLE.pattern)

    def _take(self, data: bytes) -> None:
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            self._answers.put(line)

    def have_mode(self, mode: str) -> None:
        """Makes the cells again if they are in another mode of inside/attack-server."""
        if mode != self._mode:
            self._mode = mode
            self.hidden = []
            self.peer_pages = []
            self.ask("mode", mode=mode)

    def rest(self) -> None:
        """Checks both witnesses and Linux, unless the last request did."""
        if not self.rested:
            self.ask("neighbours")

    def ask(self, do: str, timeout: float = 600.0, **more: Any) -> dict[str, Any]:
        self.rested = False
        self._running.write(json.dumps({"do": do, **more}).encode() + b"\n")
        deadline = time.monotonic() + timeout * self._machine.config.patience
        while time.monotonic() < deadline and not self._running.ended.is_set():
            try:
                reply = json.loads(self._answers.get(timeout=0.5))
            except queue.Empty:
                if self._machine.dead:
                    raise MachineDead(self._machine.evidence(
                        f"the machine died ({do} {more}): {self._machine.dead}")) from None
                continue
            if "error" in reply:
                # the machine's state is unknown, so the next test gets another machine
                why = self._machine.evidence(reply["error"])
                self._machine.kill()
                raise AssertionError(why)
            self.rested = do == "neighbours"
            return reply
        why = self._machine.evidence(f"no end of: {do} {more} {self._running.errors.decode(errors='replace')}")
        self._machine.kill()
        raise GuestTimeout(why)


_arenas: "weakref.WeakKeyDictionary[Machine, Arena]" = weakref.WeakKeyDictionary()


def arena(machine: Machine, mode: str = "machine") -> Arena:
    """The arena in a machine, with the cells in this mode. The machine keeps the arena until it
    ends."""
    if machine not in _arenas:
        _arenas[machine] = Arena(machine)
    _arenas[machine].have_mode(mode)
    return _arenas[machine]


def there(machine: Machine) -> bool:
    """Returns whether the machine has an arena."""
    return machine in _arenas


def end(machine: Machine) -> None:
    _arenas.pop(machine).ask("end")
