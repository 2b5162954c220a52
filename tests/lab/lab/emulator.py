# SPDX-License-Identifier: GPL-2.0-only
"""The interface of a machine to the program that emulates it."""

import abc
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from . import cpio, tar
from .bulk import Bulk
from .config import Config
from .errors import LabError
from .images import Kernel


class Emulator(abc.ABC):
    """The emulator of one machine. prepare() makes its files and returns the command, which
    machine.py runs."""

    name: ClassVar[str]   # the emulator's name in messages
    tree: ClassVar[str]   # the Debian tree that contains the emulator (roots.toml)
    wire: ClassVar[str]   # the machine's end of the wire to the agent
    memory: ClassVar[str]  # the default size of RAM

    def __init__(self, config: Config, run: Path, console: Path) -> None:
        self.config, self.run, self.console = config, run, console
        self.process: subprocess.Popen[bytes] | None = None  # the emulator, once it runs
        self.booted = b""  # with a saved state: the archive to extract over the root disk
        # the format of the files of this run
        self.archive: type[cpio.Archive] | type[tar.Archive] = cpio.Archive
        # a faster channel for long messages, if the emulator needs it
        self.bulk: Bulk | None = None
        self.environment: dict[str, str] = {}  # more variables of the emulator's process

    @classmethod
    @abc.abstractmethod
    def check(cls, config: Config) -> None:
        """Raises LabError if the emulator cannot provide such a machine."""

    @abc.abstractmethod
    def prepare(self, kernel: Kernel, root: Path, lay: bytes) -> list[str]:
        """Returns the emulator's command. `lay` is an archive to extract over the root disk."""

    @abc.abstractmethod
    def connect(self, alive: Callable[[], bool], deadline: float) -> socket.socket:
        """Returns the host's end of the wire. Raises OSError if the emulator ended or time is up."""

    @property
    @abc.abstractmethod
    def stopped(self) -> str:
        """Returns the reason why the machine stopped, if known. Empty while it runs."""

    def ask(self, name: str, **arguments: Any) -> Any:
        """Runs a command of QEMU's machine protocol. Returns its result."""
        raise LabError(f"{self.name} has no QEMU machine protocol, so no {name!r}",
                       "mark the test with machine(machine=\"amd\")")

    @abc.abstractmethod
    def reset(self) -> None:
        """Presses the machine's reset button."""

    @abc.abstractmethod
    def registers(self) -> str:
        """Returns the registers and local APICs of the CPUs."""

    @abc.abstractmethod
    def sysrq(self, key: str) -> None:
        """Presses a key with Alt and SysRq on the machine's keyboard."""

    @abc.abstractmethod
    def ram(self) -> list[range]:
        """Returns the ranges of the machine's RAM, for read_ram()."""

    @abc.abstractmethod
    def read_ram(self, address: int, size: int) -> bytes:
        """Returns bytes of the machine's RAM."""

    def keep(self, place: Path) -> None:
        """Saves the whole state in a new folder, from which prepare() lets machines resume."""
        raise LabError(f"{self.name} cannot save such a machine", "")

    def close(self) -> None:
        """Releases the resources of connect() and prepare()."""
