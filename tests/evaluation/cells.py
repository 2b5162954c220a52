# SPDX-License-Identifier: GPL-2.0-only
"""Two to four Quest cells in a machine with repeatable time, as the experiments use them."""

import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from lab import build
from lab.errors import LabError
from lab.machine import Machine

LIMIT = 1800.0  # seconds of the host's clock for a command
# The clock of all CPUs counts instructions: 1 ns each
CLOCK_HZ = 1_000_000_000


def say(text: str) -> None:
    print(f"evaluation: {text}", file=sys.stderr, flush=True)


def links(arena: int = 0, item: int = 4096, source: str = "one", link: str = "there",
          memory: str = "first") -> list[str]:
    """Returns the channels by which programs move from cell `source` to cell `two`, with an arena
    of so many bytes if not 0."""
    ends = f"writer: {source}, readers: [two]"
    arenas = [f"name: {memory}, type: memory, item: {arena}, {ends}"] if arena else []
    return [f"name: {link}, type: mailbox, item: {item}, {ends}, bell: true", *arenas]


@dataclass
class Cell:
    """The file of a cell with one CPU."""

    name: str
    cpu: int
    vcpus: dict[str, tuple[int, int]] = field(default_factory=dict)  # name: C and T in ms
    cmdline: str = ""
    memory: str = "32M"
    channels: Sequence[str] = ()
    migrate: Sequence[str] = ()  # LINK or LINK,ARENA
    recovery: Sequence[str] = ()  # lines of components
    standby: str = ""  # N/TIME
    devices: Sequence[str] = ()

    def text(self) -> str:
        vcpus = "".join(f"  - {{name: {name}, C: {c}ms, T: {t}ms}}\n" for name, (c, t) in self.vcpus.items())
        channels = "".join(f"  - {{{line}}}\n" for line in self.channels)
        devices = "".join(f"  - {line}\n" for line in self.devices)
        recovery = "".join(f"  {line}\n" for line in self.recovery)
        migrate = ", ".join(
            "{{link: {}, arena: {}}}".format(*one.split(",")) if "," in one else one
            for one in self.migrate)
        return (f"name: {self.name}\ncpus: [{self.cpu}]\nmemory: {self.memory}\nimage: {build.TEST_IMAGE}\n"
                f"admission: exact\ncmdline: \"{self.cmdline}\"\nmigrate: [{migrate}]\n"
                + (f"vcpus:\n{vcpus}" if vcpus else "") + (f"channels:\n{channels}" if channels else "")
                + (f"standby: {self.standby}\n" if self.standby else "")
                + (f"boot: multiboot2\ndevices:\n{devices}" if devices else "")
                + (f"recovery: |\n{recovery}" if recovery else ""))


class Bench:
    """A machine in which cells run."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def run(self, *command: str) -> str:
        done = self.machine.run(list(command), LIMIT, merge=False)
        if done.rc:
            raise LabError(f"{' '.join(command)} ended with status {done.rc}: {done.out}{done.err}", "see what it says")
        return done.out

    def shell(self, cell: str, line: str) -> str:
        """Types a line in a cell's shell. Returns the output, for any status of the command."""
        done = self.machine.run(["quesh", cell, "-t", f"{LIMIT:g}", "-c", line], LIMIT, merge=False)
        if done.err:  # of quesh itself
            raise LabError(f"{cell}> {line}: status {done.rc}: {done.out}{done.err}", "see what it says")
        return done.out

    def screen(self, cell: str) -> str:
        return self.run("quesh", cell, "--dump")

    def wait(self, cell: str, text: str, count: int = 1) -> str:
        """Waits until `text` is on the screen of a cell, so often. Returns the screen."""
        end = time.monotonic() + LIMIT
        while (shown := self.screen(cell)).count(text) < count:
            if time.monotonic() > end:
                raise LabError(f"{cell} does not print {text!r}:\n{shown}", "see what it prints")
            time.sleep(0.2)
        return shown

    def vcpus(self, cell: str) -> list[dict[str, Any]]:
        """Returns the VCPUs of a cell that have a budget: C and T in ms, and the CPU time used."""
        row = r"(?m)^ *\d+ (\S+) +(main|I/O) +([\d.]+) +([\d.]+) +([\d.]+)"
        return [{"name": name, "io": kind == "I/O",
                 "c": float(c), "t": float(t), "used": float(used)}
                for name, kind, c, t, used in re.findall(row, self.shell(cell, "vcpus"))]

    def used_ms(self, cell: str, vcpu: str) -> float:
        """Returns the CPU time that a VCPU of a cell has used."""
        for one in (vcpus := self.vcpus(cell)):
            if one["name"] == vcpu:
                return float(one["used"])
        raise LabError(f"{cell} has no VCPU {vcpu}: {vcpus}\n{self.screen(cell)}", "see what it has")

    def exits(self, cell: str) -> dict[str, int]:
        """Returns how often a cell was interrupted by the monitor so far, by reason, and its bells."""
        found = json.loads(self.run("qvctl", "--json", "cell", "stats", cell))
        return {name: int(n) for name, n in found["exits"].items()} | {
            "all": int(found["exits_total"]), "bells": sum(int(cpu["bells"]) for cpu in found["cpus"])}

    def bounds(self, cells: Sequence[Cell], cost_ns: float, service_us: int = 0,
               **sizes: int) -> dict[str, int]:
        """Returns the bounds of qvctl analyze in ns for two cells that have one VCPU in their files."""
        options = [word for name, value in sizes.items() for word in (f"--{name}", str(value))]
        found = json.loads(self.run("qvctl", "--json", "analyze", *(f"/run/{cell.name}.yaml" for cell in cells),
                                    "--cost-send", f"{cost_ns:.3f}", "--cost-reply", f"{cost_ns:.3f}",
                                    "--service", f"{service_us}us", *options))
        [channel] = found["channels"]
        [pair] = channel["pairs"]
        return {name: value for name, value in pair.items() if name.endswith("_ns")}

    @contextmanager
    def cells(self, *cells: Cell) -> Iterator[None]:
        """Runs cells, and destroys them at the end."""
        for cell in cells:
            self.machine.run(["sh", "-c", f"cat >/run/{cell.name}.yaml"], stdin=cell.text().encode())
            self.run("qvctl", "cell", "create", f"/run/{cell.name}.yaml", "--start")
        try:
            yield
        finally:
            for cell in cells:
                self.run("qvctl", "cell", "destroy", cell.name)


@contextmanager
def bench(**settings: Any) -> Iterator[Bench]:
    with Machine(**({"icount": True} | settings)) as machine:
        yield Bench(machine)
        machine.run(["qvctl", "disable"])
