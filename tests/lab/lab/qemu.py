# SPDX-License-Identifier: GPL-2.0-only
"""QEMU, which emulates machines with AMD-V: its command line and its control socket."""

import contextlib
import json
import shutil
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import cpio, enter, roots, snapshot, tar
from .config import Config
from .emulator import Emulator
from .errors import LabError
from .images import Kernel
from .paths import BUILD, LAB

IOMMUS = {
    "none": [],
    "intel": ["-device", "intel-iommu,intremap=on,eim=on"],
    # without dma-remap, DMA is neither translated nor blocked, and Linux cannot see why
    "amd": ["-device", "amd-iommu,intremap=on,xtsup=on,dma-remap=on"],
    "intel-scalable": ["-device", "intel-iommu,intremap=on,eim=on,scalable-mode=on"],
    "intel-first-stage": ["-device", "intel-iommu,intremap=on,eim=on,scalable-mode=on,fsts=on"],
}
# A q35 machine has LOW bytes of RAM below 4 GiB if it has at least LOW_IF bytes
LOW, LOW_IF = 2 << 30, 0xB0000000
CPU = "EPYC-v4,+svm,+npt,+x2apic"
STOPS = {
    "guest-reset": "it reset (a triple fault or a reboot)",
    "guest-shutdown": "it switched itself off",
    "guest-panic": "its kernel panicked",
}


MEND = LAB / "qemu/mend.c"


def mend() -> Path:
    """Returns the library that mends faults of QEMU when it is preloaded. MEND describes it."""
    made = BUILD / "lab/mend.so"
    with roots.locked(BUILD / "lab/mend.lock"):
        if not made.exists() or made.stat().st_mtime < MEND.stat().st_mtime:
            fresh = made.with_suffix(".new")
            enter.shell(roots.ensure("tool"), 'cc -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC -o "$1" "$2"',
                        str(fresh), str(MEND))
            fresh.rename(made)
    return made


def resumes(config: Config) -> bool:
    """Returns whether such a machine resumes from a saved state. QEMU saves no AMD IOMMU and not
    every device that a test adds. After a reset a machine needs the initramfs of its boot."""
    return not (config.qemu_args or config.reboots or config.icount or config.userland != "guest" or
                config.iommu == "amd")


class Qemu(Emulator):
    """A machine with AMD-V. It resumes from the saved state of an equal, booted machine, or boots."""

    name, tree = "QEMU", "tool"
    wire = "/dev/virtio-ports/org.qv.lab"
    memory = "2G"

    def __init__(self, config: Config, run: Path, console: Path) -> None:
        super().__init__(config, run, console)
        self._control: Control | None = None
        self.environment["LD_PRELOAD"] = str(mend())
        if resumes(config):
            self.archive = tar.Archive

    @classmethod
    def check(cls, config: Config) -> None:
        """Checks nothing: QEMU itself reports unsupported settings."""

    def prepare(self, kernel: Kernel, root: Path, lay: bytes) -> list[str]:
        if not resumes(self.config):
            return self._boot(kernel, Disk(root), lay)
        nowhere = Path("run")
        settings = command_line(self.config, kernel, Disk(root), nowhere, nowhere, nowhere)
        made = snapshot.ensure(self.config, root, self.tree, repr(settings))
        self.booted = lay
        return [*command_line(self.config, kernel, Disk(made / ROOT, "qcow2"), kernel.initramfs("virtio"),
                              self.run, self.console), "-incoming", f"file:{made / STATE}"]

    def _boot(self, kernel: Kernel, disk: "Disk", lay: bytes) -> list[str]:
        initrd = self.run / "initrd"
        initrd.write_bytes(kernel.initramfs("virtio").read_bytes() + lay)
        return command_line(self.config, kernel, disk, initrd, self.run, self.console)

    def connect(self, alive: Callable[[], bool], deadline: float) -> socket.socket:
        wire = connect(self.run / "agent", alive, deadline)
        self._control = Control(connect(self.run / "qmp", alive, deadline))
        return wire

    @property
    def stopped(self) -> str:
        reason = self._control.stopped if self._control else ""
        return STOPS.get(reason) or (reason and f"QEMU ended: {reason}")

    def ask(self, name: str, **arguments: Any) -> Any:
        if not self._control:
            raise LabError("QEMU does not run", "boot the machine first")
        return self._control.ask(name, **arguments)

    def reset(self) -> None:
        self.ask("system_reset")

    def _monitor(self, line: str) -> str:
        return str(self.ask("human-monitor-command", **{"command-line": line})).replace("\r", "")

    def registers(self) -> str:
        cpus = self.ask("query-cpus-fast")
        apics = [self._monitor(f"info lapic {number}") for number in range(len(cpus))]
        return "\n".join([self._monitor("info status"), self._monitor("info registers -a"), *apics])

    def sysrq(self, key: str) -> None:
        self.ask("send-key", keys=[{"type": "qcode", "data": code} for code in ("alt", "sysrq", key)])

    def ram(self) -> list[range]:
        size = self.ask("query-memory-size-summary")["base-memory"]
        low = LOW if size >= LOW_IF else size  # the rest begins at 4 GiB
        return [range(low), range(4 << 30, (4 << 30) + size - low)]

    def read_ram(self, address: int, size: int) -> bytes:
        if size > 16:
            place = self.run / "ram"
            self.ask("pmemsave", val=address, size=size, filename=str(place))
            return place.read_bytes()
        words = self._monitor(f"xp /{size // 8}gx {address:#x}").partition(":")[2].split()
        return b"".join(int(word, 16).to_bytes(8, "little") for word in words)

    def close(self) -> None:
        if self._control:
            self._control.close()


ROOT, STATE = "root.qcow2", "state"  # a saved machine's root disk, and everything else
SAVING = 120.0  # seconds


class QemuBoot(Qemu):
    """A machine with AMD-V that boots, and can be saved then."""

    def __init__(self, config: Config, run: Path, console: Path) -> None:
        super().__init__(config, run, console)
        self.archive = cpio.Archive

    def prepare(self, kernel: Kernel, root: Path, lay: bytes) -> list[str]:
        # The machine waits until connect() has put a layer on the disk, which takes its writes
        return [*self._boot(kernel, Disk(root, options="file.locking=off"), lay), "-S"]

    def connect(self, alive: Callable[[], bool], deadline: float) -> socket.socket:
        wire = super().connect(alive, deadline)
        self.ask("blockdev-snapshot-sync", device="root", format="qcow2", **{"snapshot-file": str(self.run / ROOT)})
        self.ask("cont")
        return wire

    def keep(self, place: Path) -> None:
        self.ask("migrate", uri=f"file:{place / STATE}")
        deadline = time.monotonic() + SAVING
        while (status := self.ask("query-migrate")["status"]) != "completed":
            if status == "failed" or time.monotonic() > deadline:
                raise LabError(f"QEMU does not save the machine ({status})", "check the disk's free space")
            time.sleep(0.1)
        shutil.copy(self.run / ROOT, place)


@dataclass
class Disk:
    """The root disk of a machine."""

    path: Path
    format: str = "raw"
    # by default what the machine writes goes to a temporary layer
    options: str = "snapshot=on"


def command_line(config: Config, kernel: Kernel, root: Disk, initrd: Path, run: Path,
                 console: Path) -> list[str]:
    """Returns the QEMU command of a machine. Its sockets are under `run`."""
    accel = "tcg,thread=multi"
    extra: list[str] = []
    if config.icount:
        accel = "tcg,one-insn-per-tb=on" if config.counted_x2apic else "tcg"
        extra = ["-icount", f"shift={config.shift},sleep=off"]
    flags = ["-x2apic"] if config.icount and not config.counted_x2apic else []
    cpu = ",".join([CPU, *flags, *config.cpu_flags.strip(",").split(",")]).strip(",")

    def disk(serial: str, image: Disk) -> list[str]:
        return ["-drive", f"file={image.path},format={image.format},if=none,id={serial},{image.options},cache=unsafe",
                "-device", f"virtio-blk-pci,drive={serial},serial={serial}"]
    return [
        "qemu-system-x86_64", "-accel", accel, *extra, "-cpu", cpu, "-machine", "q35",
        "-smp", str(config.cpus), "-m", config.memory or Qemu.memory, "-nographic", "-nic", "none",
        # A machine that has reset or switched itself off stays, so that its state can be read
        *([] if config.reboots else ["-action", "reboot=shutdown"]), "-action", "shutdown=pause",
        "-serial", f"file:{console}", "-monitor", "none",
        *IOMMUS[config.iommu],
        "-kernel", str(kernel.vmlinuz), "-initrd", str(initrd),
        "-append", " ".join(["console=ttyS0", "sysrq_always_enabled", *config.boot_args]),
        *disk("root", root), *disk("kernel", Disk(kernel.disk)),
        "-device", "virtio-serial-pci",
        "-chardev", f"socket,id=agent,path={run}/agent,server=on,wait=off",
        "-device", "virtserialport,chardev=agent,name=org.qv.lab",
        "-qmp", f"unix:{run}/qmp,server=on,wait=off",
        *config.qemu_args,
    ]


def connect(path: Path, alive: Callable[[], bool], deadline: float) -> socket.socket:
    """Connects to a socket of QEMU, and waits until QEMU has created it. On a busy host QEMU creates
    one socket well before the next."""
    while True:
        wire = socket.socket(socket.AF_UNIX)
        try:
            wire.connect(str(path))
            return wire
        except OSError:
            wire.close()
            if not alive() or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


class Control:
    """A connection for QEMU's machine protocol. Records why the machine stopped."""

    def __init__(self, wire: socket.socket) -> None:
        self._socket = wire
        self._file = self._socket.makefile("r", encoding="utf-8")
        self._lock = threading.Lock()
        self._answers: dict[int, dict[str, Any]] = {}  # by the number of the command
        self._number = 0
        self._news = threading.Condition()
        self.stopped = ""
        threading.Thread(target=self._receive, daemon=True).start()
        self.ask("qmp_capabilities")

    def _receive(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in self._file:
                message = json.loads(line)
                if message.get("event") == "SHUTDOWN":
                    self.stopped = message["data"].get("reason", "unknown")
                elif "return" in message or "error" in message:
                    with self._news:
                        self._answers[message.get("id", 0)] = message
                        self._news.notify_all()

    def ask(self, name: str, **arguments: Any) -> Any:
        """Runs one command, e.g. ask("inject-nmi"). Returns its result."""
        with self._lock:
            self._number += 1
            number = self._number  # without it, a late answer would be that of the next command
            text = json.dumps({"execute": name, "arguments": arguments, "id": number})
            self._socket.sendall(text.encode() + b"\n")
            with self._news:
                if not self._news.wait_for(lambda: number in self._answers, 60):
                    raise LabError(f"QEMU does not answer {name!r}", "is the machine overloaded?")
                answer = self._answers.pop(number)
        if "error" in answer:
            raise LabError(f"QEMU refuses {name!r}: {answer['error']['desc']}", "")
        return answer["return"]

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
