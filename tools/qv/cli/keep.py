# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell run: the main process of a cell's unit (qv-cell@.service).

It keeps the configuration and the files, so that a failed cell starts again without a new program.
If this process is killed, the cell runs on; the next one takes it over if it is the same cell."""

from __future__ import annotations

import fcntl
import os

from .. import abi, mark, output
from ..condition import FAILURES, record_fields, state_name
from ..errors import Failed, Refused
from ..heirs import check_holder
from ..words import number
from .needs import check_name, check_required, enable, on_one_line
from .recover import choice, choice_file
from .recovery import entries
from .reload import ask, reload
from .wanted import wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..device import Device
    from ..service import Service
    from ..system import System
    from ..transcript import Transcript
    from .command import Arguments
    from .wanted import Wanted

GAVE_UP = 3  # exit status: the cell failed too often, and is kept as it is
DOUBLINGS = 30  # of the pause: enough to reach any longest one
READY = 5.0  # seconds that an inmate has to tell that it is ready; not all tell it
START = 300.0  # seconds that a start may take: TimeoutStartSec of the unit
HELD = 1.0  # seconds until a change of `on-failure` is seen
PERIOD = 5.0  # seconds between two looks at the cell if systemd asks for none
# systemd waits this many seconds, or this many times the cell's `watchdog`, for a sign of life
WATCHDOG, BEATS = 30.0, 3
REST = 25_000  # milliseconds that stopping and giving back may take after the cell's own time
# A start that is refused so is tried again after these seconds: a lock lasts, a call ends soon
LATER: dict[int, float] = {abi.Reason.E_LOCKED: 30.0, abi.Reason.E_BUSY: 0.2}


def keep(args: Arguments, system: System) -> int:
    service = system.service()
    if args.reload:
        return ask(args, system, service)
    try:
        return _keep(args, system, service)
    except Failed as failure:
        # `systemctl status` shows it, also when the lines of systemd itself have followed
        service.tell(f"STATUS={on_one_line(failure)}")
        raise


def _keep(args: Arguments, system: System, service: Service) -> int:
    first = wanted(args, system)
    check_name(first.cell, system.root)
    device = system.device_or_load()
    enable(device, service)
    keeper = Keeper(first, device, args, system, service)
    try:
        return keeper.run()
    except Refused as refusal:
        if refusal.code not in (abi.Reason.E_NO_CELL, abi.Reason.E_NOT_ENABLED):
            raise
        return keeper.gone()
    finally:
        os.close(keeper.alone)


class Keeper:
    def __init__(
        self, first: Wanted, device: Device, args: Arguments, system: System, service: Service
    ) -> None:
        self.name = first.cell.name
        self.use(first)
        self.device, self.args, self.json = device, args, args.json
        self.system, self.service = system, service
        self.failures, self.since = 0, system.now()
        self.restarts = 0  # of a cell on standby in this life, as far as told
        self.transcript: Transcript | None = None
        self.beat, self.next_report = 0, 0.0
        self.ready = False  # systemd has learned that the inmate is ready
        self.folder = folder = service.folder or os.path.join(system.root, mark.FOLDER)
        self.mark = mark.place(folder, self.name)
        self.alone = self.lock(folder)

    def use(self, now: Wanted) -> None:
        self.wanted = now
        self.cell, self.contents, self.digest = now.cell, now.contents, now.digest
        self.restart, self.timeout = now.restart, now.timeout

    def lock(self, folder: str) -> int:
        """Makes sure that no other process keeps a cell of this name."""
        try:
            os.makedirs(folder, exist_ok=True)
            alone = os.open(
                os.path.join(folder, f"{self.name}.lock"),
                os.O_RDWR | os.O_CREAT | os.O_CLOEXEC,
                0o600,
            )
        except PermissionError:
            raise Refused("this needs root", "run it with sudo, or as root") from None
        except OSError as error:
            raise Refused(
                f"{folder} cannot be written ({(error.strerror or 'error').lower()})",
                "run it as root, with a writable /run",
            ) from None
        try:
            fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(
                f"another process keeps cell {self.name} running",
                "two units name the same cell (see `name:` in their files), or `qvctl cell apply` "
                "works on it: then start the unit again",
            ) from None
        return alone

    def say(self, kind: str, words: str, **fields: str) -> None:
        """Tells an event: to the journal with fields if systemd runs this process, else as text."""
        try:
            if self.service.journal.send(kind, words, QV_CELL=self.name, **fields):
                return
            if self.json:
                output.as_json({"name": self.name, "event": kind, "text": words})
            else:
                output.line(words)
        except (OSError, Refused):
            pass  # the journal is away; the cell is more important

    def run(self) -> int:
        self.begin()
        self.report_ready()
        while not self.service.wait(
            self.device, self.name, self.next_report - self.system.now(), self.transcript
        ):
            self.copy_console()
            if self.service.reload:
                reload(self)
            state = self.state()
            if state is None:
                return self.gone()
            if state == abi.State.SHUT_DOWN:
                self.say("ended-elsewhere", f"cell {self.name} was shut down by another command")
                return self.end("another command shut it down")
            self.tell_restarts()
            if state == abi.State.FAILED and not self.after_failure():
                return self.end() if self.service.ended else GAVE_UP
            if not self.ready:
                self.report_ready()
            elif state == abi.State.FAILED or self.system.now() >= self.next_report:
                self.report_life()
        return self.end()

    def begin(self, again: bool = False) -> None:
        """Takes the cell over if it is there, otherwise creates it. Then the cell runs. `again`: it
        has run until now, so the cells that it requires are not looked at."""
        if self.state() is not None and not self.is_same():
            if not self.is_ours():
                raise Refused(
                    f"a cell {self.name} exists, and no unit has created it",
                    f"qvctl cell destroy {self.name}, then start the unit again",
                )
            self.say("replaced", f"a file of cell {self.name} has changed: the cell is replaced")
            self.device.destroy(self.name)
        created = self.state() is None
        if created:
            if not again:
                check_required(self.cell, self.system, self.service)
            self.create()
        if self.cell.console:
            self.transcript = self.system.transcript(self.name)
        if self.state() == abi.State.RUNNING:
            self.restarts = self.device.info(self.name).restarts
            self.say("taken-over", f"cell {self.name} runs already: it is taken over")
            return
        try:
            self.start()
        except Refused:
            if created:
                self.device.destroy(self.name)
                self.forget_mark()
            raise

    def create(self) -> None:
        """The mark is there before the cell, since this process may be killed in between."""
        self.leave_mark("")
        try:
            check_holder(self.device, self.cell)
            self.device.create(self.cell.request(), self.contents)
        except Refused:
            self.forget_mark()
            raise
        self.leave_mark(self.facts())

    def start(self) -> None:
        reply = self.device.start(self.name)
        self.since, self.beat, self.restarts = self.system.now(), 0, 0
        if self.transcript:
            self.transcript.restart()
        self.say("running", f"cell {self.name} runs ({output.duration(reply.duration_ns)})")

    def copy_console(self, end: bool = False) -> None:
        """Copies what the inmate has printed to the journal, one entry for each line. Tells of
        its components, whose outages it prints too."""
        now = self.system.now()
        if self.transcript and (news := self.transcript.recoveries(now, end)):
            for kind, words, fields in entries(self.name, news, self.device.status().tsc_khz):
                self.say(kind, words, **fields)
        if not self.transcript or not self.service.journal:
            return
        for line in self.transcript.lines(now, end):
            self.service.journal.send("console", line, QV_CELL=self.name)
        lost, self.transcript.lost = self.transcript.lost, 0
        if lost:
            self.say(
                "console-lost",
                f"{lost} bytes of the console of cell {self.name} were lost: it prints too fast",
            )

    def tell_restarts(self) -> None:
        """Tells how often a cell on standby has begun again by itself since the last call. If it
        is `failed` now, the driver may not have seen why it failed before that."""
        info = self.device.info(self.name)
        new, self.restarts = info.restarts - self.restarts, info.restarts
        if new <= 0:
            return
        times = "" if new == 1 else f" {new} times"
        fields = {"QV_RESTARTS": str(info.restarts)}
        why = "and ran again by itself, before its last failure"
        if info.state == abi.State.RUNNING:
            record, after = info.last_failure, output.duration(info.restart_ns)
            reason = FAILURES.get(record.reason, "an unknown reason")
            why = f"and runs again by itself after {after}: {reason}"
            fields |= {"QV_RESTART_NS": str(info.restart_ns), **record_fields(record)}
        self.say("began-again", f"cell {self.name} failed{times}, {why}", **fields)

    def state(self) -> int | None:
        """Returns the state of the cell, or None if there is no such cell."""
        try:
            return int(self.device.info(self.name).state)
        except Refused as refusal:
            if refusal.code != abi.Reason.E_NO_CELL:
                raise
            return None

    def facts(self) -> str:
        return mark.facts_of(self.device.info(self.name))

    def is_ours(self) -> bool:
        """A process of the unit created the cell, perhaps of another file. The mark
        has no facts if that process was killed while it created the cell, so before its start. The
        next cell gets the same id, but the driver counts its failures from 0."""
        made = mark.read(self.mark)
        if made is None:
            return False
        info = self.device.info(self.name)
        if not made.facts:
            return info.state in (abi.State.CREATED, abi.State.LOADABLE)
        return made.facts == self.facts() and info.failures >= made.failures

    def is_same(self) -> bool:
        """The unit created the cell, of this configuration and these files."""
        made = mark.read(self.mark)
        return made is not None and made.digest == self.digest and self.is_ours()

    def leave_mark(self, facts: str) -> None:
        failures = self.device.info(self.name).failures if facts else 0
        mark.write(self.mark, mark.Mark(self.digest, facts, failures))

    def after_failure(self) -> bool:
        """Holds the failed cell or starts it again. Returns false as start_again() does."""
        if not self.holds():
            return self.start_again()
        self.copy_console(end=True)
        self.hold()
        state = self.state()
        if self.service.reload:
            return True
        if state == abi.State.FAILED and not self.service.ended:
            return self.start_again()
        self.take_back(state)
        return not self.service.ended

    def take_back(self, state: int | None) -> None:
        """Notices that another command has started the failed cell."""
        if state != abi.State.RUNNING:
            return
        self.since, self.beat, self.failures, self.restarts = self.system.now(), 0, 0, 0
        if self.transcript:
            self.transcript.restart()
        self.say("recovered", f"cell {self.name} runs again: another command has started it")

    def holds(self) -> bool:
        return choice(self.folder, self.name, self.cell.on_failure) == "hold"

    def hold(self) -> None:
        """Keeps the failed cell as it is, until a command starts or ends it, `on-failure` changes,
        or the unit ends."""
        record = self.device.info(self.name).failure
        why = FAILURES.get(record.reason, "an unknown reason")
        self.say(
            "held",
            f"cell {self.name} failed: {why}; it is held as it is\n"
            f"  remedy: `qvctl cell show {self.name}` says more; "
            f"then qvctl cell recover {self.name}",
            **self.failure_fields(record),
        )
        while self.state() == abi.State.FAILED and self.holds():
            if self.service.ended or self.service.reload:
                break
            self.extend_start()
            self.service.tell(f"STATUS=failed: {why}; held", "WATCHDOG=1")
            self.service.wait(self.device, self.name, min(self.period(), HELD))

    def start_again(self) -> bool:
        """Starts the failed cell again after a pause. Returns false if it failed too often, or if
        the command is to end."""
        self.copy_console(end=True)
        record = self.device.info(self.name).failure
        why = FAILURES.get(record.reason, "an unknown reason")
        fields = self.failure_fields(record)
        if (self.system.now() - self.since) * 1000 >= self.restart.healthy:
            self.failures = 0
        self.failures += 1
        if self.failures > self.restart.limit:
            self.say(
                "given-up",
                f"cell {self.name} failed: {why}; that was failure {self.failures}, "
                "so it is left as it is\n"
                f"  remedy: `qvctl cell show {self.name}` says more; then "
                f"systemctl reset-failed qv-cell@{self.name}, "
                f"and systemctl start qv-cell@{self.name}",
                **fields,
            )
            self.service.tell(f"STATUS=failed {self.failures} times: {why}")
            self.leave_mark(self.facts())
            self.forget_choice()
            return False
        doubled = self.restart.first * 2 ** min(self.failures - 1, DOUBLINGS)
        pause = min(doubled, self.restart.most) / 1000
        self.say(
            "failed",
            f"cell {self.name} failed: {why}; "
            f"it starts again in {output.duration(round(pause * 1e9))}",
            **fields,
        )
        self.extend_start()
        earlier = 0
        while not self.pause(pause, why) and self.state() == abi.State.FAILED:
            try:
                self.start()
                return not self.service.ended
            except Refused as refusal:
                if refusal.code not in LATER:
                    raise
                pause = LATER[refusal.code]
                self.extend_start()
                if refusal.code == earlier == abi.Reason.E_BUSY:
                    continue  # the journal has it already
                earlier = refusal.code
                self.say(
                    "delayed",
                    f"cell {self.name}: {refusal.sentence}; "
                    f"tried again in {output.duration(round(pause * 1e9))}",
                )
        self.take_back(self.state())
        return not self.service.ended

    def failure_fields(self, record: abi.FailureRecord) -> dict[str, str]:
        return record_fields(record) | {"QV_FAILURES": str(self.failures + 1)}

    def pause(self, seconds: float, why: str) -> bool:
        until = self.system.now() + seconds
        while not self.service.ended and (left := until - self.system.now()) > 0:
            self.service.tell(
                f"STATUS=failed: {why}; starts again in {output.duration(round(left * 1e9))}",
                "WATCHDOG=1",
            )
            self.service.sleep(min(left, self.period()))
        return self.service.ended

    def period(self) -> float:
        return self.service.watchdog / 2 if self.service.watchdog else PERIOD

    def report_ready(self) -> None:
        """Tells systemd that the inmate is ready, as `ready` of its file says, and how often it
        will hear from this process. If the cell fails first, its next life may become ready."""
        if self.service.watchdog and self.cell.watchdog:
            self.service.watchdog = max(WATCHDOG, BEATS * self.cell.watchdog / 1000)
            self.service.tell(f"WATCHDOG_USEC={round(self.service.watchdog * 1e6)}")
        until = self.system.now() + READY
        while not self.is_ready() and (self.cell.ready != "auto" or self.system.now() < until):
            self.copy_console()
            if self.state() != abi.State.RUNNING or self.service.sleep(0.02):
                break
        if self.state() == abi.State.FAILED:
            self.next_report = self.system.now()
            return
        self.tell_ready()
        self.report_life()

    def tell_ready(self) -> None:
        """Without it, systemd takes an end with status 0 for a failure."""
        if not self.ready:
            self.ready = True
            self.service.tell("READY=1")

    def extend_start(self) -> None:
        """Gives the next life of a cell that has not been ready the time of a start."""
        if not self.ready:
            self.service.tell(
                f"EXTEND_TIMEOUT_USEC={round((START + self.restart.most / 1000) * 1e6)}"
            )

    def is_ready(self) -> bool:
        how = self.cell.ready
        if how == "start" or how == "auto" and not self.cell.watchdog and not self.transcript:
            return True
        flag = self.transcript is not None and self.transcript.is_ready()
        if how == "flag":
            return flag
        beats = bool(self.device.info(self.name).heartbeat)
        return beats or how == "auto" and flag

    def report_life(self) -> None:
        """WATCHDOG=1 says that this process is well, and that the heart of its cell beats. The
        driver ends a cell whose heartbeat stops. It cannot while another cell has locked
        management: then systemd sees it here."""
        self.next_report = self.system.now() + self.period()
        info = self.device.info(self.name)
        exits = sum(sum(cpu.exits) for cpu in self.device.stats(self.name))
        life = f"{number(info.heartbeat, 'heartbeat')}, {number(exits, 'exit')}"
        lines = [f"STATUS={state_name(info.state)}: {life}"]
        if self.is_alive(info):
            lines.append("WATCHDOG=1")
        self.beat = info.heartbeat
        self.service.tell(*lines)

    def is_alive(self, info: abi.CellInfo) -> bool:
        if not info.heartbeat or not self.cell.watchdog or info.state != abi.State.RUNNING:
            return True  # its heartbeat is not watched
        return info.heartbeat != self.beat or self.transcript is None or self.transcript.has_ended()

    def gone(self) -> int:
        self.say("ended-elsewhere", f"cell {self.name} was destroyed by another command")
        self.tell_ready()
        self.forget()
        self.service.tell("STATUS=another command destroyed it")
        return 0

    def forget(self) -> None:
        self.forget_mark()
        self.forget_choice()

    def forget_mark(self) -> None:
        if os.path.exists(self.mark):
            os.unlink(self.mark)

    def forget_choice(self) -> None:
        if os.path.exists(path := choice_file(self.folder, self.name)):
            os.unlink(path)

    def longest(self) -> int:
        """Returns how many us it may take to end the cell."""
        return (self.timeout + REST) * 1000

    def end(self, how: str = "ended") -> int:
        """Asks the cell to end, then gives its resources back to Linux. systemd continues to show
        `how`."""
        longest = self.longest()
        self.service.tell(
            "STOPPING=1", f"EXTEND_TIMEOUT_USEC={longest}", f"WATCHDOG_USEC={longest}"
        )
        if self.state() == abi.State.RUNNING:
            self.shut_down()
        self.copy_console(end=True)
        if self.state() is not None:
            self.device.destroy(self.name)
        self.forget()
        self.service.tell(f"STATUS={how}")
        return 0

    def shut_down(self) -> None:
        try:
            self.device.shutdown(self.name, self.timeout)
        except Refused as refusal:
            if refusal.code != abi.Reason.E_STATE:
                raise
            return  # it has failed meanwhile
        forced = self.device.info(self.name).forced
        if forced:
            self.say("stopped-by-force", f"cell {self.name} was stopped by force")
        else:
            self.say("shut-down", f"cell {self.name} is shut down")
