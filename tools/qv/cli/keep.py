# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell run: the main process of a cell's unit (qv-cell@.service).

It keeps the configuration and the image, so that a failed cell starts again without a new program.
If this process is killed, the cell runs on; the next one takes it over if it is the same cell."""

from __future__ import annotations

import fcntl
import hashlib
import os

from .. import abi, output
from ..condition import FAILURES, state_name
from ..errors import Refused
from ..words import text
from .create import checked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..device import Device
    from ..keys import CellConfig
    from ..service import Service
    from ..system import System
    from .command import Arguments

GAVE_UP = 3         # exit status: the cell failed too often, and is kept as it is
FIRST, MOST = 0.1, 30.0     # seconds before a failed cell starts again: doubled each time
DOUBLINGS = 10      # enough to reach MOST
GOOD = 60.0         # seconds of life after which earlier failures no longer count
READY = 5.0         # seconds that an inmate has for its first heartbeat; not all have one
PERIOD = 5.0        # seconds between two looks at the cell if systemd asks for none
REST = 25_000       # milliseconds that stopping and giving back may take after the cell's own time
# Another command holds management: a refused start is tried again
LATER = (abi.Reason.E_LOCKED, abi.Reason.E_BUSY)


def keep(args: Arguments, system: System) -> int:
    service = system.service()
    cell, image = checked(args.file, args.force, system, system.running().with_all_memory())
    device = system.device_or_load()
    if not device.status().enabled:
        device.enable()
    keeper = Keeper(cell, image, device, args, system, service)
    try:
        return keeper.run()
    except Refused as refusal:
        if refusal.code not in (abi.Reason.E_NO_CELL, abi.Reason.E_NOT_ENABLED):
            raise
        return keeper.gone()
    finally:
        os.close(keeper.alone)


class Keeper:
    def __init__(self, cell: CellConfig, image: bytes, device: Device, args: Arguments,
                 system: System, service: Service) -> None:
        self.cell, self.image, self.device, self.name = cell, image, device, cell.name
        self.restarts, self.timeout, self.json = args.restarts, args.timeout, args.json
        self.system, self.service = system, service
        self.failures, self.since = 0, system.now()
        folder = service.folder or os.path.join(system.root, "run/qv")
        self.mark = os.path.join(folder, f"{cell.name}.cell")
        digest = hashlib.sha256(bytes(cell.request()))
        digest.update(image)
        self.digest = digest.hexdigest()
        self.alone = self.lock(folder)

    def lock(self, folder: str) -> int:
        """Makes sure that no other process keeps a cell of this name."""
        try:
            os.makedirs(folder, exist_ok=True)
            alone = os.open(os.path.join(folder, f"{self.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise Refused(f"{folder} cannot be written ({(error.strerror or 'error').lower()})",
                          "run it as root, with a writable /run") from None
        try:
            fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(f"another process keeps cell {self.name} running",
                          "two units name the same cell: see `name:` in their files") from None
        return alone

    def say(self, words: str) -> None:
        try:
            if self.json:
                output.as_json({"name": self.name, "text": words})
            else:
                output.line(words)
        except (OSError, Refused):
            pass  # the journal is away; the cell is more important

    def run(self) -> int:
        self.begin()
        self.report_ready()
        while not self.service.wait(self.device, self.name, self.period()):
            state = self.state()
            if state is None:
                return self.gone()
            if state == abi.State.SHUT_DOWN:
                self.say(f"cell {self.name} was shut down by another command")
                return self.end()
            if state == abi.State.FAILED and not self.start_again():
                return self.end() if self.service.ended else GAVE_UP
            self.report_life()
        return self.end()

    def begin(self) -> None:
        """Takes the cell over if it is there, otherwise creates it. Then the cell runs."""
        if self.state() is not None and not self.is_ours():
            if not os.path.exists(self.mark):
                raise Refused(f"a cell {self.name} exists, and no unit has created it",
                              f"qvctl cell destroy {self.name}, then start the unit again")
            self.say(f"the file or the image of cell {self.name} has changed: the cell is replaced")
            self.device.destroy(self.name)
        created = self.state() is None
        if created:
            self.leave_mark("")
            self.device.create(self.cell.request(), self.image)
            self.leave_mark(self.facts())
        if self.state() == abi.State.RUNNING:
            self.say(f"cell {self.name} runs already: it is taken over")
            return
        try:
            self.start()
        except Refused:
            if created:
                self.device.destroy(self.name)
            raise

    def start(self) -> None:
        reply = self.device.start(self.name)
        self.since = self.system.now()
        self.say(f"cell {self.name} runs ({output.duration(reply.duration_ns)})")

    def state(self) -> int | None:
        """Returns the state of the cell, or None if there is no such cell."""
        try:
            return int(self.device.info(self.name).state)
        except Refused as refusal:
            if refusal.code != abi.Reason.E_NO_CELL:
                raise
            return None

    def facts(self) -> str:
        info = self.device.info(self.name)
        cpus = ",".join(map(str, info.cpus[:info.num_cpus]))
        return f"{info.id} {cpus} {info.memory} {text(info.image_name)} {text(info.cmdline)}"

    def is_ours(self) -> bool:
        """The cell was created of this configuration and this image. The mark has no facts if the
        process was killed while it created the cell."""
        try:
            with open(self.mark, encoding="utf-8") as stream:
                digest, _, facts = stream.read().partition("\n")
        except (OSError, ValueError):
            return False
        return digest == self.digest and facts in ("", self.facts())

    def leave_mark(self, facts: str) -> None:
        with open(self.mark, "w", encoding="utf-8") as stream:
            stream.write(f"{self.digest}\n{facts}")

    def start_again(self) -> bool:
        """Starts the failed cell again after a pause. Returns false if it failed too often, or if
        the command is to end."""
        why = FAILURES.get(self.device.info(self.name).failure.reason, "an unknown reason")
        if self.system.now() - self.since >= GOOD:
            self.failures = 0
        self.failures += 1
        if self.failures > self.restarts:
            self.say(f"cell {self.name} failed: {why}; that was failure {self.failures}, so it is left as it is\n"
                     f"  remedy: `qvctl cell show {self.name}` says more; then start the unit again")
            self.service.tell(f"STATUS=failed {self.failures} times: {why}")
            return False
        pause = min(FIRST * 2 ** min(self.failures - 1, DOUBLINGS), MOST)
        self.say(f"cell {self.name} failed: {why}; it starts again in {output.duration(round(pause * 1e9))}")
        while not self.pause(pause, why) and self.state() == abi.State.FAILED:
            try:
                self.start()
                break
            except Refused as refusal:
                if refusal.code not in LATER:
                    raise
                self.say(f"cell {self.name}: {refusal.sentence}; tried again in {output.duration(round(MOST * 1e9))}")
                pause = MOST
        return not self.service.ended

    def pause(self, seconds: float, why: str) -> bool:
        until = self.system.now() + seconds
        while not self.service.ended and (left := until - self.system.now()) > 0:
            self.service.tell(f"STATUS=failed: {why}; starts again", "WATCHDOG=1")
            self.service.sleep(min(left, self.period()))
        return self.service.ended

    def period(self) -> float:
        return self.service.watchdog / 2 if self.service.watchdog else PERIOD

    def report_ready(self) -> None:
        """Tells systemd that the inmate is ready: from its first heartbeat on, if it has one."""
        until = self.system.now() + READY
        while self.cell.watchdog and self.system.now() < until:
            info = self.device.info(self.name)
            if info.heartbeat or info.state != abi.State.RUNNING or self.service.sleep(0.02):
                break
        self.service.tell("READY=1")
        self.report_life()

    def report_life(self) -> None:
        """WATCHDOG=1 says that this process is well. The heart is the driver's to watch, by the
        limit in the cell's file."""
        info = self.device.info(self.name)
        exits = sum(sum(cpu.exits) for cpu in self.device.stats(self.name))
        self.service.tell(f"STATUS={state_name(info.state)}: {info.heartbeat} heartbeats, {exits} exits",
                          "WATCHDOG=1")

    def gone(self) -> int:
        self.say(f"cell {self.name} was destroyed by another command")
        self.forget()
        return 0

    def forget(self) -> None:
        if os.path.exists(self.mark):
            os.unlink(self.mark)

    def end(self) -> int:
        """Asks the cell to end, then gives its resources back to Linux."""
        self.service.tell("STOPPING=1", f"EXTEND_TIMEOUT_USEC={(self.timeout + REST) * 1000}")
        if self.state() == abi.State.RUNNING:
            self.shut_down()
        if self.state() is not None:
            self.device.destroy(self.name)
        self.forget()
        return 0

    def shut_down(self) -> None:
        try:
            self.device.shutdown(self.name, self.timeout)
        except Refused as refusal:
            if refusal.code != abi.Reason.E_STATE:
                raise
            return  # it has failed meanwhile
        forced = self.device.info(self.name).forced
        self.say(f"cell {self.name} {'was stopped by force' if forced else 'is shut down'}")
