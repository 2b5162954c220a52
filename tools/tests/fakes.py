# SPDX-License-Identifier: GPL-2.0-only
"""A driver and a system that exist only in a test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from qv import abi
from qv.condition import REGISTERS
from qv.errors import Refused
from qv.facts import Facts
from qv.files import Files
from qv.machine import Machine, Taken

NO_UNITS = b"the machine has no IOMMU, or its firmware has switched it off"
NOT_TAKEN = b"QV was enabled with --no-iommu"


def reply() -> abi.Reply:
    return abi.Reply(duration_ns=1_500_000, held_ns=20_000)


class FakeDevice:
    """Stores cells, refuses calls according to .refuse, and records all calls."""

    def __init__(self) -> None:
        self.enabled = False
        self.cells: dict[str, abi.CellInfo] = {}
        self.calls: list[str] = []
        self.refuse: dict[str, Refused] = {}
        self.exits = 0
        self.coming: list[abi.Event] = []
        self.waits: list[float | None] = []
        self.script: list[Callable[[], object]] = []
        self.fails = False
        self.lines = [b"1.500000 monitor: enters on 4 CPUs\n", b"2.000000 qv: cell quest: it runs\x1b[2J\n"]
        self.flood: list[bytes] = []
        self.previous: Refused | None = None
        self.outside = 0
        self.ipi_direct = False
        self.iommu = False
        self.without_iommu = NO_UNITS  # why the monitor does not own it; empty: it can
        self.stands, self.before = abi.CpuState.RUNS, 0x90
        self.obstacle = (0, b"", b"")
        self.pool_size = 0
        self.kept: list[int] = []
        self.vendor, self.features = 1, abi.FEATURE_NPT

    def _call(self, name: str) -> abi.Reply:
        self.calls.append(name)
        if name in self.refuse:
            raise self.refuse[name]
        return reply()

    def status(self) -> abi.StatusInfo:
        code, sentence, remedy = self.obstacle
        why = self.without_iommu if self.enabled and not self.iommu else b""
        return abi.StatusInfo(enabled=int(self.enabled), num_cells=len(self.cells), vendor=self.vendor,
                              features=self.features, num_cpus=4 if self.enabled else 0, tsc_khz=2_000_000,
                              monitor_text=30_000, cpus_outside=self.outside if self.enabled else 0,
                              ipi_direct=self.enabled and self.ipi_direct,
                              dma_level=abi.DmaLevel.FULL if self.enabled and self.iommu else 0,
                              dma_obstacle=why, obstacle=code, obstacle_text=sentence,
                              obstacle_remedy=remedy)

    def enable(self, strict: bool = False, ipi_direct: bool = False,
               iommu: bool | None = None) -> abi.Reply:
        answer = self._call("enable --strict" if strict else "enable")
        if iommu and self.without_iommu:
            raise Refused(f"the IOMMU stays with Linux: {self.without_iommu.decode()}",
                          "see security-model.md, or leave out --iommu", abi.Reason.E_UNSUPPORTED)
        if iommu is False:
            self.without_iommu = NOT_TAKEN
        self.enabled, self.ipi_direct, self.iommu = True, ipi_direct, not self.without_iommu
        return answer

    def disable(self) -> abi.Reply:
        answer = self._call("disable")
        self.enabled = False
        return answer

    def pool(self) -> abi.Pool:
        lent = min(self.pool_size, sum(info.memory for info in self.cells.values()))
        return abi.Pool(size=self.pool_size, free=self.pool_size - lent, lent=lent)

    def set_pool(self, size: int) -> abi.Pool:
        answer = self._call(f"pool {size >> 20}")
        self.pool_size = size
        found = self.pool()
        found.reply = answer
        return found

    def kept_cpus(self) -> list[int]:
        return self.kept

    def keep_cpus(self, cpus: list[int]) -> abi.Reply:
        answer = self._call(f"keep {cpus}")
        self.kept = cpus
        return answer

    def create(self, request: abi.CellCreate, files: Files) -> abi.Reply:
        answer = self._call("create")
        info = abi.CellInfo(name=request.name, id=len(self.cells) + 1, state=abi.State.LOADABLE,
                            num_cpus=request.num_cpus, boot=request.boot, memory=request.memory,
                            console=request.console, watchdog_ms=request.watchdog_ms,
                            debug=request.debug, apic=request.apic, dma_level=request.dma_level,
                            standby=request.standby, standby_ms=request.standby_ms,
                            ipi=request.ipi, lock=request.lock, bell_rate=request.bell_rate,
                            x2apic=request.apic != abi.Apic.MACHINE,
                            image_name=request.image_name, cmdline=request.cmdline)
        info.cpus = request.cpus
        info.num_channels, info.channels = request.num_channels, request.channels
        info.num_dynamic, info.num_with = request.num_dynamic, request.num_with
        info.with_ends = request.with_ends
        info.num_modules, info.modules = request.num_modules, request.modules
        for module, contents in zip(info.modules, files.modules):
            module.len = len(contents)
        self.cells[request.name.decode()] = info
        return answer

    def _find(self, name: str) -> abi.CellInfo:
        if name not in self.cells:
            raise Refused(f"there is no cell named {name}", "qvctl cell list shows the cells",
                          abi.Reason.E_NO_CELL)
        return self.cells[name]

    def start(self, name: str) -> abi.Reply:
        answer = self._call("start")
        self._find(name).state = abi.State.RUNNING
        return answer

    def open_channel(self, name: str, key: int) -> abi.Reply:
        answer = self._call(f"open {key}")
        info = self._find(name)
        info.open[info.num_open] = abi.ChannelOpen(key=key, linux_end=1, type=3, full=1, item=8,
                                                   slots=4)
        info.num_open += 1
        return answer

    def close_channel(self, name: str, key: int) -> abi.Reply:
        answer = self._call(f"close {key}")
        self._find(name).num_open = 0
        return answer

    def shutdown(self, name: str, timeout_ms: int) -> abi.Reply:
        answer = self._call(f"shutdown {timeout_ms}")
        self._find(name).state = abi.State.FAILED if self.fails else abi.State.SHUT_DOWN
        return answer

    def lock(self, name: str) -> abi.Reply:
        answer = self._call("lock")
        self._find(name).locked = 1
        return answer

    def unlock(self, name: str, timeout_ms: int) -> abi.Reply:
        answer = self._call(f"unlock {timeout_ms}")
        self._find(name).locked = 0
        return answer

    def destroy(self, name: str) -> abi.Reply:
        answer = self._call("destroy")
        self._find(name)
        del self.cells[name]
        return answer

    def names(self) -> list[str]:
        return list(self.cells)

    def info(self, name: str) -> abi.CellInfo:
        return self._find(name)

    def sample(self, name: str, cpu: int) -> abi.FailureRecord:
        self._call(f"sample {cpu}")
        self._find(name)
        record = abi.FailureRecord(cpu=cpu, address=self.stands, rip=0x100085, rflags=2, cr0=0x11, tsc=7)
        record.regs[REGISTERS.index("rsp")] = 0x103FF0
        record.bytes[0], record.bytes[1] = self.before, 0xEB
        return record

    def memory(self, name: str, first: int) -> bytes:
        self._call("memory")
        ram = bytes(self._find(name).memory)
        return ram[first:first + (2 << 20)]

    def stats(self, name: str, reset_held: bool = False) -> list[abi.CpuStats]:
        if name != abi.FRONT_END:
            self._find(name)
        self.exits += 100
        found = []
        for cpu in (0, 1):
            stats = abi.CpuStats(cpu=cpu, apic_id=cpu, held_max_ns=5_000, cycles_in_monitor=77, denied=cpu)
            stats.exits[abi.Exit.ICR] = self.exits
            stats.exits[abi.Exit.CPUID] = 3
            found.append(stats)
        return found

    def log(self, reader: abi.Log) -> bytes:
        """Returns a line, and adds a line of .flood to the present log."""
        lines = self.lines
        if reader.which == abi.WhichLog.PREVIOUS:
            if self.previous:
                raise self.previous
            lines = [b"7.000000 driver: QV was enabled long ago\n", b"9.000000 linux: at the end: Linux panicked\n"]
        reader.until = reader.until or len(lines)
        at = reader.place[0]
        reader.place[0] = min(at + 1, len(lines), reader.until)
        self.lines = self.lines + self.flood
        return b"".join(lines[at:reader.place[0]])

    def events(self, timeout: float | None = None) -> Iterator[abi.Event]:
        """Carries out a step of .script for each wait, if there is one."""
        self.waits.append(timeout)
        if self.script:
            self.script.pop(0)()
        yield from self.coming


class FakeJournal:
    """Has no socket, so commands print."""

    def __bool__(self) -> bool:
        return False

    def send(self, _kind: str, _words: str, **_fields: str) -> bool:
        return False


class FakeService:
    """Carries out one step of `.script` each time the command waits. It ends the command after the
    last one."""

    watchdog: float | None = 10.0
    journal = FakeJournal()

    def __init__(self, system: FakeSystem, folder: Path) -> None:
        self.system = system
        self.folder = str(folder)
        self.script: list[Callable[[], object]] = []
        self.told: list[str] = []
        self.pauses: list[float] = []
        self.ended = self.reload = False
        self.asleep: Callable[[], object] = lambda: None

    def tell(self, *lines: str) -> None:
        self.told += lines

    def wait(self, _device: FakeDevice, _name: str, seconds: float,
             _console: object = None) -> bool:
        self.system.clock += max(seconds, 0)
        if self.script:
            self.script.pop(0)()
        else:
            self.ended = True
        return self.ended

    def sleep(self, seconds: float) -> bool:
        self.pauses.append(seconds)
        self.system.clock += seconds
        self.asleep()
        return self.ended


class FakeSystem:
    def __init__(self, device: FakeDevice | Refused, images: Path, root: Path | None = None) -> None:
        self.fake = device
        self.images = images
        self.root = str(root or images / "no-root")
        self.clock = 100.0
        self.systemd: list[str] = []
        self.entries: list[str] = []
        self.logged: list[str] = []  # the cells in the journal
        self.never: set[str] = set()  # units that were not started
        self.manager = FakeService(self, images)
        self.offline: frozenset[int] = frozenset()
        self.memory = 1 << 30  # available
        self.denied = False  # this user may not open consoles

    def machine(self) -> Machine:
        return Machine(frozenset(range(4)), 2 << 30, 1 << 30, (self.images,))

    def running(self) -> Machine:
        cells = () if isinstance(self.fake, Refused) else tuple(
            Taken(name, list(info.cpus)[:info.num_cpus], [], [], bool(info.ipi), bool(info.lock),
                  info.memory)
            for name, info in self.fake.cells.items())
        direct = not isinstance(self.fake, Refused) and self.fake.ipi_direct
        return Machine(frozenset(range(4)), 2 << 30, self.memory, (self.images,),
                       offline=self.offline,
                       cells=cells, ipi=direct,
                       outside=0 if isinstance(self.fake, Refused) else self.fake.outside)

    def facts(self) -> Facts:
        return Facts(str(self.root), "x86_64", "6.12.0-test")

    def device(self) -> FakeDevice:
        if isinstance(self.fake, Refused):
            raise self.fake
        return self.fake

    device_or_load = device

    def is_loaded(self) -> bool:
        return not isinstance(self.fake, Refused)

    def systemctl(self, *words: str) -> None:
        self.systemd.append(" ".join(words))

    def invocation(self, unit: str) -> str:
        return "" if unit in self.never else f"last-of-{unit}"

    def journal(self, *words: str) -> Iterator[str]:
        self.systemd.append(" ".join(words))
        yield from (f"{name}\n" for name in self.logged) if words == ("--field=QV_CELL",) else self.entries

    def transcript(self, _name: str) -> None:
        return None

    def console_denied(self, _name: str) -> bool:
        return self.denied

    def service(self) -> FakeService:
        return self.manager

    def now(self) -> float:
        return self.clock

    def sleep(self, seconds: float) -> None:
        self.clock += seconds


def fake_quesh(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> Path:
    """Puts a quesh into the path that prints the file `answer` of its folder, and writes the words
    of its command line to the file `asked`. Returns the script."""
    script = folder / "bin/quesh"
    script.parent.mkdir()
    (script.parent / "answer").write_text(answer)
    script.write_text(f'#!/bin/sh\necho "$*" >{script.parent}/asked\ncat {script.parent}/answer\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    return script
