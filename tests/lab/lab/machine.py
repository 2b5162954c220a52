# SPDX-License-Identifier: GPL-2.0-only
"""An emulated machine with a stock Debian and, unless told otherwise, QV installed."""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from . import build, enter, evidence, images, roots, speed
from .bochs import Bochs, BochsBoot
from .channel import Channel, Running
from .config import Config
from .emulator import Emulator
from .errors import GuestTimeout, LabError, MachineDead
from .paths import BUILD, LAB
from .qemu import Qemu, QemuBoot

LOGS = BUILD / "lab/logs"
LOGS_KEPT = 100
BOOT_LIMIT = 240.0
PANIC = re.compile(rb"Kernel panic - not syncing[^\r\n]*")
EMULATORS: dict[str, type[Emulator]] = {"amd": Qemu, "amd-boot": QemuBoot, "intel": Bochs, "intel-boot": BochsBoot}


@dataclass
class Result:
    """The exit status and the output of a command in the machine."""

    rc: int
    out: str
    err: str = ""  # stderr, with merge=False only; otherwise it is part of `out`


class Machine:
    """Example: `with Machine(cpus=4) as m: print(m.run("qvctl doctor").out)`"""

    def __init__(self, config: Config | None = None, *, install: bool = True, compile: bool = True,
                 console: Path | None = None, boot_limit: float = 0.0, **settings: Any) -> None:
        self.config = config or Config(**settings)
        if self.config.machine not in EMULATORS:
            raise LabError(f"there is no machine {self.config.machine!r}", f"choose {' or '.join(EMULATORS)}")
        self.config.check()
        EMULATORS[self.config.machine].check(self.config)
        self.boot_limit = max(boot_limit, BOOT_LIMIT * self.config.slowness * speed.factor())
        self._install, self._compile = install, compile
        self.console = console or self._new_log()
        self.spoilt = False  # after a failed test the next test gets another machine
        self._why_dead = ""
        self._scanned = 0
        self.found: Path | None = None  # the last file of evidence(), since forget_evidence()
        self.emulators_fault = False    # whether it shows a defect of the emulator
        self._closing = contextlib.ExitStack()

    @staticmethod
    def _new_log() -> Path:
        LOGS.mkdir(parents=True, exist_ok=True)
        for old in sorted(LOGS.glob("*.log"))[:-LOGS_KEPT]:
            old.unlink(missing_ok=True)
            for evidence_file in LOGS.glob(f"{old.stem}*.evidence"):
                evidence_file.unlink(missing_ok=True)
        stamp = time.strftime("%Y%m%d-%H%M%S")
        fd, name = tempfile.mkstemp(prefix=f"{stamp}-", suffix=".log", dir=LOGS)
        os.close(fd)
        return Path(name)

    # methods that start and end the machine

    def __enter__(self) -> Self:
        try:
            self.boot()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def boot(self) -> None:
        """Switches the machine on, and waits until systemd has started everything."""
        kernel = images.kernel(self.config.kernel)
        root = images.root_disk(self.config.userland)
        for left in Path("/tmp").glob("qvlab-*-*"):  # a process that was killed left this folder
            if not Path("/proc", left.name.split("-")[1]).exists():
                shutil.rmtree(left, ignore_errors=True)
        # the path is short, since paths of sockets have a length limit
        run = Path(tempfile.mkdtemp(prefix=f"qvlab-{os.getpid()}-", dir="/tmp"))
        self._closing.callback(shutil.rmtree, run, ignore_errors=True)
        self.console.write_bytes(b"")
        self.emulator = EMULATORS[self.config.machine](self.config, run, self.console.resolve())
        self._closing.callback(self.emulator.close)
        argv = self.emulator.prepare(kernel, root, self._lay(kernel))
        self._messages = run / "emulator.log"
        with open(self._messages, "wb") as log:
            self._process = subprocess.Popen(
                enter.command(roots.ensure(self.emulator.tree), argv,
                              {"TMPDIR": str(run), **self.emulator.environment}),
                stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True)
        self._closing.callback(self._reap)
        self.emulator.process = self._process
        deadline = time.monotonic() + self.boot_limit
        try:
            wire = self.emulator.connect(lambda: self._process.poll() is None, deadline)
        except OSError:
            raise LabError(f"{self.emulator.name} did not start: {self._said() or 'it said nothing'}",
                           "look at the arguments given to it") from None
        self._channel = Channel(wire, self.emulator.bulk)
        self._closing.callback(self._channel.close)
        if self.emulator.booted:
            self._channel.boots = 1
            # A machine that resumes from a saved state may overwrite the slots of the disk
            # (bulk.py). The messages of this command are too short to go through a slot.
            self._finish(self.start(["true"]), deadline, "boot")
            self._lay_out(self.emulator.booted, deadline)
            return
        self._await(self._channel.hello.is_set, deadline, "boot")
        self._finish(self.start("systemctl is-system-running --wait; udevadm settle"), deadline, "boot")

    def _lay_out(self, lay: bytes, deadline: float) -> None:
        """Extracts the files of this run over the root disk of a machine that has booted."""
        command = self.start("tar -C / -x --strip-components=1 --no-same-owner --keep-directory-symlink")
        command.write(lay)
        command.close()
        self._finish(command, deadline, "boot")
        if command.rc:
            raise LabError(f"what this run brings along does not fit: {command.output.decode(errors='replace')}", "")

    @property
    def boots(self) -> int:
        """The number of boots of the machine: 1, and 1 more after each restart()."""
        return self._channel.boots

    def restart(self, how: Callable[[], object], timeout: float = 0.0) -> None:
        """Calls `how`, which must make the machine reset, and waits until it has booted again. Needs
        reboots=True. All running commands are lost."""
        before, deadline = self.boots, time.monotonic() + (timeout or self.boot_limit)
        how()
        self._await(lambda: self.boots > before, deadline, "restart")
        self._finish(self.start("systemctl is-system-running --wait; udevadm settle"), deadline, "restart")

    def _lay(self, kernel: images.Kernel) -> bytes:
        """Returns an archive of the files of this run, under lay/."""
        lay = self.emulator.archive()
        lay.file("lay/usr/lib/qv-lab-wire", self.emulator.wire.encode())
        lay.file("lay/usr/lib/qv-lab-agent", (LAB / "guest/qv-lab-agent").read_bytes())
        units = "lay/etc/systemd/system"
        unit = "qv-lab-agent.service"
        lay.file(f"{units}/{unit}", (LAB / "guest" / unit).read_bytes())
        lay.link(f"{units}/multi-user.target.wants/{unit}", f"../{unit}")
        for config in (kernel.root / "kernel/boot").glob("config-*"):
            lay.file(f"lay/boot/{config.name}", config.read_bytes())
        if self.config.userland.startswith("kernel-"):
            # its headers are installed, but a disk hides this link to them
            lay.link(f"lay/usr/lib/modules/{kernel.version}/build",
                     f"/usr/src/linux-headers-{kernel.version}")
        if self._install:
            with build.installed(kernel, self._compile) as stage:
                lay.tree(stage, "lay")
        return lay.data()

    def _reap(self) -> None:
        self._process.kill()
        self._process.wait()

    def kill(self) -> None:
        """Kills the emulator."""
        self._reap()

    def close(self) -> None:
        """Switches the machine off at once."""
        self._closing.close()
        # Stored now, since later `dead` could not read the removed files
        self._why_dead = self._why_dead or "it was switched off"

    @property
    def dead(self) -> str:
        """The reason why the machine is dead. Empty while it runs."""
        if not self._why_dead:
            if self._process.poll() is not None:
                time.sleep(0.1)  # the last event may still be on its way
                self._why_dead = self.emulator.stopped or \
                    f"{self.emulator.name} ended: {self._said() or 'it said nothing'}"
            elif not self.config.reboots and (panic := self._panic()):
                self._why_dead = f"its kernel panicked: {panic}"
            else:
                self._why_dead = self.emulator.stopped
        return self._why_dead

    def _said(self) -> str:
        return self._messages.read_text(errors="replace").strip()[-2000:]

    def _panic(self) -> str:
        with open(self.console, "rb") as log:
            log.seek(max(0, self._scanned - 200))
            data = log.read()
        self._scanned = self._scanned + max(0, len(data) - min(200, self._scanned))
        found = PANIC.search(data)
        return found[0].decode(errors="replace") if found else ""

    def console_text(self) -> str:
        return self.console.read_text(errors="replace").replace("\r", "")

    def console_tail(self, lines: int = 40) -> str:
        return "\n".join(self.console_text().splitlines()[-lines:])

    def reset(self) -> None:
        """Presses the reset button. See restart()."""
        self.emulator.reset()

    def evidence(self, why: str) -> str:
        """Writes the state of a machine that hangs or has died to a file, once per test. Returns
        `why` with the name of that file."""
        if not self.found:
            number = len(list(LOGS.glob(f"{self.console.stem}*.evidence")))
            place = self.console.with_suffix(f".{number}.evidence")
            try:
                self.emulators_fault = evidence.write(self, why, place)
            except Exception as error:  # the failure of the test counts more
                return f"{why} (no evidence: {error!r})"
            self.found = place
        fault = "the emulator's fault: " if self.emulators_fault else ""
        return f"{fault}{why} (evidence: {self.found})"

    def forget_evidence(self) -> None:
        """Lets the next failure write its evidence to a new file."""
        self.found, self.emulators_fault = None, False

    def qmp(self, name: str, **arguments: Any) -> Any:
        """Sends a command to QEMU itself, e.g. qmp("inject-nmi"). Returns its result."""
        return self.emulator.ask(name, **arguments)

    # commands

    def _await(self, done: Callable[[], bool], deadline: float, what: str) -> None:
        check = 0.0
        while not done():
            now = time.monotonic()
            if now >= check:
                if self.dead:
                    raise MachineDead(self.evidence(f"the machine died ({what}): {self._why_dead}"))
                if self._channel.lost.is_set() and self._process.poll() is None:
                    raise MachineDead(self.evidence(f"the machine does not answer any more ({what})"))
                check = now + 0.25
            if now > deadline:
                raise GuestTimeout(self.evidence(f"no end of: {what}"))
            time.sleep(0.01)

    def _finish(self, command: Running, deadline: float, what: str) -> None:
        try:
            self._await(command.ended.is_set, deadline, what)
        except GuestTimeout:
            command.kill()
            command.ended.wait(3)
            raise
        finally:
            self._channel.forget(command)
        if command.error:
            raise LabError(f"the machine cannot start {what!r}: {command.error}", "")

    def start(self, command: str | Sequence[str], *, sink: Callable[[bytes], None] | None = None,
              tty: tuple[int, int] | None = None, merge: bool = True,
              env: dict[str, str] | None = None) -> Running:
        """Starts a command without waiting for its end. bash runs a string. `tty` is (rows,
        columns)."""
        argv = ["/bin/bash", "-c", command] if isinstance(command, str) else list(command)
        return self._channel.start({"argv": argv, "tty": tty, "merge": merge, "env": env or {}}, sink)

    def run(self, command: str | Sequence[str], timeout: float = 60.0, *, stdin: bytes = b"",
            merge: bool = True, env: dict[str, str] | None = None,
            sink: Callable[[bytes], None] | None = None) -> Result:
        """Runs a command to its end. Raises GuestTimeout if that takes too long."""
        running = self.start(command, sink=sink, merge=merge, env=env)
        if stdin:
            running.write(stdin)
        running.close()
        self.finish(running, timeout, command if isinstance(command, str) else " ".join(command))
        assert running.rc is not None
        return Result(running.rc, running.output.decode(errors="replace"),
                      running.errors.decode(errors="replace"))

    def finish(self, running: Running, timeout: float, what: str = "command") -> None:
        """Waits for the end of a command that start() started."""
        self._finish(running, time.monotonic() + timeout * self.config.patience, what)

    # files

    def put(self, source: str | Path, target: str, timeout: float = 120.0) -> None:
        """Copies a file or a folder into the machine, under exactly that name."""
        path = Path(source)
        if path.is_dir():
            data = subprocess.run(["tar", "-C", str(path), "-c", "."], capture_output=True, check=True).stdout
            script = 'mkdir -p "$1" && tar -C "$1" -x --no-same-owner'
        elif path.is_file():
            data = path.read_bytes()
            script = 'if [ -d "$1" ]; then set -- "$1/$2" "$2" "$3"; fi; ' \
                     'mkdir -p "$(dirname "$1")" && cat >"$1" && chmod "$3" "$1"'
        else:
            raise LabError(f"{path}: no such file to put", "check the path")
        mode = f"{path.stat().st_mode & 0o7777:o}"
        done = self.run(["/bin/sh", "-c", script, "put", target, path.name, mode], timeout, stdin=data)
        if done.rc:
            raise LabError(f"cannot put {path} to {target}: {done.out.strip()}", "check the path")

    def get(self, source: str, target: str | Path, timeout: float = 120.0) -> None:
        """Copies a file or a folder out of the machine, under exactly that name."""
        script = 'if [ -d "$1" ]; then echo d; tar -C "$1" -c .; else exec 3<"$1" && echo f && cat <&3; fi'
        running = self.start(["/bin/sh", "-c", script, "get", source], merge=False)
        running.close()
        self.finish(running, timeout, f"get {source}")
        if running.rc:
            why = running.errors.decode(errors="replace").strip()
            raise LabError(f"cannot get {source}: {why}", "check the path")
        kind, _, data = running.output.partition(b"\n")
        path = Path(target)
        if kind == b"d":
            path.mkdir(parents=True, exist_ok=True)
            subprocess.run(["tar", "-C", str(path), "-x", "--no-same-owner"], input=data, check=True)
            return
        if path.is_dir():
            path = path / Path(source).name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
