# SPDX-License-Identifier: GPL-2.0-only
"""QEMU: its command line, and its control socket."""

import contextlib
import json
import socket
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import LabError
from .images import Kernel

IOMMUS = {
    "none": [],
    "intel": ["-device", "intel-iommu,intremap=on,eim=on"],
    "amd": ["-device", "amd-iommu,intremap=on,xtsup=on"],
}
CPU = "EPYC-v4,+svm,+npt,+x2apic"


@dataclass(frozen=True)
class Config:
    """Everything that tells one machine from another."""

    machine: str = "amd"
    kernel: str = "6.12"
    cpus: int = 4
    memory: str = "2G"
    iommu: str = "none"
    icount: bool = False
    reboots: bool = False  # a reset restarts it, memory as it was; else that is its end
    cpu_flags: str = ""
    boot_args: tuple[str, ...] = ()
    qemu_args: tuple[str, ...] = field(default=())

    @property
    def slowness(self) -> int:
        """How many times longer than usual everything takes here."""
        if not self.icount:
            return max(1, self.cpus // 16)
        return 3 if self.iommu == "none" else 20

    def check(self) -> None:
        if self.machine != "amd":
            raise LabError(f"there is no machine {self.machine!r}", "the lab has 'amd' so far")
        if self.iommu not in IOMMUS:
            raise LabError(f"there is no IOMMU {self.iommu!r}", "choose none, intel or amd")
        if not 1 <= self.cpus <= 255:
            raise LabError(f"{self.cpus} CPUs cannot be", "choose 1 to 255")


def command_line(config: Config, kernel: Kernel, root: Path, initrd: Path, run: Path,
                 console: Path) -> list[str]:
    """The QEMU command of a machine whose sockets are under `run`."""
    accel = "tcg,thread=multi"
    extra: list[str] = []
    if config.icount:
        # With x2APIC, QEMU stops with "Bad icount read" unless it goes one by one.
        accel = "tcg" if config.iommu == "none" else "tcg,one-insn-per-tb=on"
        extra = ["-icount", "shift=0,sleep=off"]
    cpu = ",".join([CPU, *config.cpu_flags.strip(",").split(",")]).strip(",")

    def disk(path: Path, serial: str) -> list[str]:
        return ["-drive", f"file={path},format=raw,if=none,id={serial},snapshot=on,cache=unsafe",
                "-device", f"virtio-blk-pci,drive={serial},serial={serial}"]
    return [
        "qemu-system-x86_64", "-accel", accel, *extra, "-cpu", cpu, "-machine", "q35",
        "-smp", str(config.cpus), "-m", config.memory, "-nographic", "-nic", "none",
        *([] if config.reboots else ["-no-reboot"]),
        "-serial", f"file:{console}", "-monitor", "none",
        *IOMMUS[config.iommu],
        "-kernel", str(kernel.vmlinuz), "-initrd", str(initrd),
        "-append", " ".join(["console=ttyS0", *config.boot_args]),
        *disk(root, "root"), *disk(kernel.disk, "kernel"),
        "-device", "virtio-serial-pci",
        "-chardev", f"socket,id=agent,path={run}/agent,server=on,wait=off",
        "-device", "virtserialport,chardev=agent,name=org.qv.lab",
        "-qmp", f"unix:{run}/qmp,server=on,wait=off",
        *config.qemu_args,
    ]


class Control:
    """QEMU's machine protocol; remembers why the machine stopped."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._file = self._socket.makefile("r", encoding="utf-8")
        self._lock = threading.Lock()
        self._answers: list[dict[str, Any]] = []
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
                        self._answers.append(message)
                        self._news.notify_all()

    def ask(self, name: str, **arguments: Any) -> Any:
        """Carry out one command, e.g. ask("inject-nmi")."""
        with self._lock:
            self._answers.clear()
            text = json.dumps({"execute": name, "arguments": arguments})
            self._socket.sendall(text.encode() + b"\n")
            with self._news:
                if not self._news.wait_for(lambda: self._answers, 10):
                    raise LabError(f"QEMU does not answer {name!r}", "is the machine overloaded?")
                answer = self._answers.pop()
        if "error" in answer:
            raise LabError(f"QEMU refuses {name!r}: {answer['error']['desc']}", "")
        return answer["return"]

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
