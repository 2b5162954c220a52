# SPDX-License-Identifier: GPL-2.0-only
"""What a machine needs of the program that emulates it."""

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
    """One machine's emulator. prepare() makes what it needs and gives the command; machine.py runs that."""

    name: ClassVar[str]   # as messages call it
    tree: ClassVar[str]   # the Debian tree it lives in (roots.toml)
    wire: ClassVar[str]   # the machine's end of the wire to the agent
    archive: ClassVar[type[cpio.Archive] | type[tar.Archive]]  # what lays this run's files over the root disk
    memory: ClassVar[str]  # what such a machine has unless told otherwise

    def __init__(self, config: Config, run: Path, console: Path) -> None:
        self.config, self.run, self.console = config, run, console
        self.process: subprocess.Popen[bytes] | None = None  # the emulator, once it runs
        self.booted = b""  # an archive to be laid over the root disk of a machine that had booted before it ran
        self.bulk: Bulk | None = None  # a quicker way for what is long, where there is one

    @classmethod
    @abc.abstractmethod
    def check(cls, config: Config) -> None:
        """LabError when it cannot emulate that."""

    @abc.abstractmethod
    def prepare(self, kernel: Kernel, root: Path, lay: bytes) -> list[str]:
        """The command that emulates; `lay` is an archive to be laid over the root disk."""

    @abc.abstractmethod
    def connect(self, alive: Callable[[], bool], deadline: float) -> socket.socket:
        """Our end of the wire; OSError when the emulator ended or the time is over."""

    @property
    @abc.abstractmethod
    def stopped(self) -> str:
        """Why the machine stopped, as far as is known; empty while it runs."""

    def ask(self, name: str, **arguments: Any) -> Any:
        """A command of QEMU's machine protocol."""
        raise LabError(f"{self.name} has no QEMU machine protocol, so no {name!r}",
                       "mark the test with machine(machine=\"amd\")")

    @abc.abstractmethod
    def reset(self) -> None:
        """Press the machine's reset button."""

    @abc.abstractmethod
    def state(self) -> str:
        """What the CPUs are at, for someone who looks at a machine that hangs."""

    def close(self) -> None:
        """Let go of what connect() and prepare() hold."""
