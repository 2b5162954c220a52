# SPDX-License-Identifier: GPL-2.0-only
"""The keys of a cell's YAML file: one file each, of the shape in key.py. Each has a row in TABLE
and a field in CellConfig."""

from __future__ import annotations

from .. import abi
from ..problems import Place, Problem
from ..record import dataclass, field
from . import (
    apic,
    bell_rate,
    channels,
    cmdline,
    console,
    cpus,
    debug,
    devices,
    dma_protection,
    dynamic_channels,
    image,
    ipi,
    lock,
    memory,
    migrate,
    modules,
    name,
    ports,
    recovery,
    standby,
    unit,
    vcpus,
    watchdog,
)
from .key import Key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .cpus import Cpus
    from .devices import Devices
    from .key import Wrong
    from .modules import Module
    from .ports import Ports

# Every key, in the order of messages and of Documentation/reference/configuration.md
TABLE: tuple[Key, ...] = (
    name.KEY,
    cpus.KEY,
    memory.KEY,
    image.IMAGE,
    image.BOOT,
    cmdline.KEY,
    modules.KEY,
    console.KEY,
    watchdog.KEY,
    standby.KEY,
    lock.KEY,
    ipi.KEY,
    bell_rate.KEY,
    debug.KEY,
    apic.KEY,
    ports.KEY,
    devices.KEY,
    dma_protection.KEY,
    channels.KEY,
    dynamic_channels.KEY,
    migrate.KEY,
    vcpus.VCPUS,
    vcpus.ADMISSION,
    recovery.KEY,
    unit.AFTER,
    unit.REQUIRES,
    unit.RESTART,
    unit.ON_FAILURE_KEY,
    unit.READY_KEY,
    unit.STOP,
)
BY_NAME = {key.name: key for key in TABLE}

# The keys that `cell show` shows, in its order: resources and image, then supervision
RESOURCES = (
    cpus.KEY,
    apic.KEY,
    memory.KEY,
    image.IMAGE,
    image.BOOT,
    cmdline.KEY,
    modules.KEY,
    console.KEY,
    ports.KEY,
    devices.KEY,
    dma_protection.KEY,
    channels.KEY,
    dynamic_channels.KEY,
)
SUPERVISION = (watchdog.KEY, standby.KEY, bell_rate.KEY, debug.KEY, lock.KEY, ipi.KEY)


@dataclass
class CellConfig:
    """One cell, checked. Each key has a field, and `at` has the place of each value."""

    file: str
    name: str = ""
    cpus: Cpus = field(default_factory=list)
    memory: int = 0
    image: str = ""
    boot: str = "multiboot2"
    cmdline: str = ""
    modules: list[modules.Module] = field(default_factory=list)
    console: bool = True
    watchdog: int = watchdog.DEFAULT  # ms; 0: off
    standby: standby.Standby = field(default_factory=standby.Standby)
    lock: int = abi.Lock.NEVER
    ipi: bool = False
    bell_rate: int = abi.BELL_RATE  # a millisecond
    debug: bool = False
    apic: int = abi.Apic.BEST
    ports: Ports = field(default_factory=list)
    devices: Devices = field(default_factory=list)
    dma_protection: int = abi.DmaLevel.NONE
    channels: list[channels.Channel] = field(default_factory=list)
    dynamic_channels: dynamic_channels.Dynamic = field(default_factory=dynamic_channels.Dynamic)
    migrate: list[migrate.Link] = field(default_factory=list)
    vcpus: list[vcpus.Named] = field(default_factory=list)
    admission: str = "bound"  # the admission test for `vcpus`; Quest receives it, too
    recovery: recovery.Components = field(default_factory=recovery.Components)
    after: list[str] = field(default_factory=list)
    requires: list[str] = field(default_factory=list)
    restart: unit.Restart | None = None  # None: as `cell run` was called
    on_failure: str = "restart"
    ready: str = "auto"
    stop: int | None = None  # ms
    at: dict[str, Place] = field(default_factory=dict)

    def before(self) -> list[str]:
        """Returns the cells that start before this one."""
        return [*self.after, *(name for name in self.requires if name not in self.after)]

    def command_line(self) -> str:
        """Returns the command line of the inmate."""
        words = [vcpus.command_line(self.cmdline, self.vcpus, self.admission)]
        words += [one.word() for one in self.migrate]
        words += [recovery.WORD + recovery.FILE] if self.recovery.text else []
        return " ".join(filter(None, words))

    def all_modules(self) -> list[Module]:
        """Returns the modules of the file, then the text of `recovery`."""
        text = self.recovery.text.encode()
        mine = [modules.Module("", recovery.FILE, len(text), text)] if text else []
        return [*self.modules, *mine]

    def request(self) -> abi.CellCreate:
        """Returns the request to the driver, still without the contents of its files."""
        request = abi.CellCreate()
        for key in TABLE:
            key.pack(self, request)
        return request

    def problems(self, wrong: Iterable[Wrong]) -> list[Problem]:
        """Returns the problems of keys that are in the file."""
        return [Problem(self.file, self.at[key], key, what, right) for key, what, right in wrong]
