# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell run: the main process of a cell's unit (qv-cell@.service).

It keeps the configuration and the image, so that a failed cell starts again without a new program.
If this process is killed, the cell runs on; the next one takes it over if it is the same cell."""

from __future__ import annotations

import hashlib
import os

from .. import abi, output
from ..condition import FAILURES, state_name
from ..errors import Refused
from .create import checked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..device import Device
    from ..keys import CellConfig
    from ..system import System
    from .command import Arguments

GAVE_UP = 3         # exit status: the cell failed too often, and is kept as it is
FIRST, MOST = 0.1, 30.0     # seconds before a failed cell starts again: doubled each time
GOOD = 60.0         # seconds of life after which earlier failures no longer count
READY = 5.0         # seconds that an inmate has for its first heartbeat; not all have one
PERIOD = 5.0        # seconds between two looks at the cell if systemd asks for none


def keep(args: Arguments, system: System) -> int:
    cell, image = checked(args.file, args.force, system)
    device = system.device_or_load()
    if not device.status().enabled:
        device.enable()
    return Keeper(cell, image, device, args, system).run()


class Keeper:
    def __init__(self, cell: CellConfig, image: bytes, device: Device, args: Arguments,
                 system: System) -> None:
        self.cell, self.image, self.device = cell, image, device
        self.restarts, self.timeout, self.json = args.restarts, args.timeout, args.json
        self.system, self.service = system, system.service()
        self.failures, self.since, self.beats = 0, system.now(), -1
        folder = self.service.folder or os.path.join(system.root, "run/qv")
        self.mark = os.path.join(folder, f"{cell.name}.cell")
        digest = hashlib.sha256(bytes(cell.request()))
        digest.update(image)
        self.digest = digest.hexdigest()

    def say(self, words: str) -> None:
        if self.json:
            output.as_json({"name": self.cell.name, "text": words})
        else:
            output.line(words)

    def run(self) -> int:
        self.begin()
        self.report_ready()
        while not self.service.wait(self.device, self.period()):
            state = self.state()
            if state is None:
                self.say(f"cell {self.cell.name} was destroyed by another command")
                return 0
            if state == abi.State.SHUT_DOWN:
                self.say(f"cell {self.cell.name} has ended by itself")
                return self.end()
            if state == abi.State.FAILED and not self.start_again():
                return self.end() if self.service.ended else GAVE_UP
            self.report_life()
        return self.end()

    def begin(self) -> None:
        """Takes the cell over if it is there, otherwise creates it. Then the cell runs."""
        name = self.cell.name
        if self.state() is not None and not self.is_ours():
            self.say(f"cell {name} is another one, or its file or image has changed: it is replaced")
            self.device.destroy(name)
        if self.state() is None:
            self.device.create(self.cell.request(), self.image)
            self.leave_mark()
        if self.state() == abi.State.RUNNING:
            self.say(f"cell {name} runs already: it is taken over")
        else:
            self.start()

    def start(self) -> None:
        reply = self.device.start(self.cell.name)
        self.since, self.beats = self.system.now(), -1
        self.say(f"cell {self.cell.name} runs ({output.duration(reply.duration_ns)})")

    def state(self) -> int | None:
        """Returns the state of the cell, or None if there is no such cell."""
        try:
            return int(self.device.info(self.cell.name).state)
        except Refused as refusal:
            if refusal.code != abi.Reason.E_NO_CELL:
                raise
            return None

    def is_ours(self) -> bool:
        """The cell was created of this configuration and this image."""
        try:
            with open(self.mark, encoding="ascii") as stream:
                return stream.read() == self.marked()
        except OSError:
            return False

    def marked(self) -> str:
        info = self.device.info(self.cell.name)
        cpus = ",".join(map(str, info.cpus[:info.num_cpus]))
        return f"{self.digest} {info.id} {cpus} {info.memory}\n"

    def leave_mark(self) -> None:
        try:
            os.makedirs(os.path.dirname(self.mark), exist_ok=True)
            with open(self.mark, "w", encoding="ascii") as stream:
                stream.write(self.marked())
        except OSError as error:
            raise Refused(f"{self.mark} cannot be written ({(error.strerror or 'error').lower()})",
                          "run it as root, with a writable /run") from None

    def start_again(self) -> bool:
        """Starts the failed cell again after a pause. Returns false if it failed too often, or if
        the command is to end."""
        name, info = self.cell.name, self.device.info(self.cell.name)
        why = FAILURES.get(info.failure.reason, "an unknown reason")
        if self.system.now() - self.since >= GOOD:
            self.failures = 0
        self.failures += 1
        if self.failures > self.restarts:
            self.say(f"cell {name} failed: {why}; that was failure {self.failures}, so it is left as it is\n"
                     f"  remedy: `qvctl cell show {name}` says more; then systemctl restart qv-cell@{name}")
            self.service.tell(f"STATUS=failed {self.failures} times: {why}")
            return False
        pause = min(FIRST * 2 ** (self.failures - 1), MOST)
        self.say(f"cell {name} failed: {why}; it starts again in {output.duration(round(pause * 1e9))}")
        self.service.tell(f"STATUS=failed: {why}; starts again")
        if self.service.sleep(pause):
            return False
        self.start()
        return True

    def period(self) -> float:
        return self.service.watchdog / 2 if self.service.watchdog else PERIOD

    def report_ready(self) -> None:
        """Tells systemd that the inmate is ready: from its first heartbeat on, if it has one."""
        until = self.system.now() + READY
        while self.cell.watchdog and self.system.now() < until:
            info = self.device.info(self.cell.name)
            if info.heartbeat or info.state != abi.State.RUNNING or self.service.sleep(0.02):
                break
        self.service.tell("READY=1")
        self.report_life()

    def report_life(self) -> None:
        """WATCHDOG=1 is sent only if the heartbeat has moved, or if the inmate never had one."""
        info = self.device.info(self.cell.name)
        exits = sum(sum(cpu.exits) for cpu in self.device.stats(self.cell.name))
        alive = info.heartbeat != self.beats or not info.heartbeat
        self.beats = info.heartbeat
        self.service.tell(f"STATUS={state_name(info.state)}: {info.heartbeat} heartbeats, {exits} exits",
                          *(["WATCHDOG=1"] if alive and info.state == abi.State.RUNNING else []))

    def end(self) -> int:
        """Asks the cell to end, then gives its resources back to Linux."""
        name = self.cell.name
        self.service.tell("STOPPING=1")
        if self.state() == abi.State.RUNNING:
            self.device.shutdown(name, self.timeout)
            forced = self.device.info(name).forced
            self.say(f"cell {name} {'was stopped by force' if forced else 'is shut down'}")
        if self.state() is not None:
            self.device.destroy(name)
        if os.path.exists(self.mark):
            os.unlink(self.mark)
        return 0
