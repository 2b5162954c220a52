# SPDX-License-Identifier: GPL-2.0-only
"""Writes the state of a machine that hangs or has died to a file, before the machine ends.

The emulator gives the CPUs' registers and local APICs. The monitor's instances are found in RAM by
their marks (hypervisor/abi/mark.h): their logs, and where each CPU is. A Linux that is alive adds
its blocked tasks and its stacks by SysRq."""

import re
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from . import build, enter, roots
from .paths import TOP

if TYPE_CHECKING:
    from .machine import Machine

ABI = TOP / "hypervisor/abi"
HUGE = 2 << 20
MARK_ID, MARK_NAME, NAME_LEN, MARK_WORDS = 48, 56, 32, 12  # in struct qv_mon_mark
ENTRY = struct.Struct("<QQIIQQ24x")        # struct qv_mon_log_entry
SYSRQ = {"l": "stacks of busy CPUs", "w": "blocked tasks"}
ANSWER = 3.0  # seconds in which Linux prints them
LIMIT = 60.0  # seconds after which no further part is begun
LAST = 60     # lines of a log
STATES = ("none", "created", "running", "stopped", "failed")
PHASES = ("coming from Linux", "running its guest", "waiting for a SIPI", "stopped")
FIELDS = ("index", "linux_cpu", "apic_id", "phase", "cmd", "ack", "kicks", "next_cr3", "faulting")
IMPOSSIBLE = "QV_LOG_SHUTDOWN at the monitor's address, which is QEMU's defect (lab.md)"


def define(file: Path, name: str) -> int:
    """Returns the value of a #define of an ABI."""
    found = re.search(rf"#define\s+{name}\s+(0x[0-9a-fA-F]+|\d+)", file.read_text(encoding="utf-8"))
    assert found, name
    return int(found[1], 0)


MAGIC = define(ABI / "mark.h", "QV_MARK_MAGIC")
MARK, LOG, OPEN, IMAGE, IMAGE_MAX, CPUS, CPU_LEN = (define(ABI / "layout.h", name) for name in (
    "QV_OFF_MARK", "QV_OFF_LOG", "QV_OPEN_LEN", "QV_VA_IMAGE", "QV_IMAGE_MAX", "QV_OFF_CPUS", "QV_CPU_LEN"))
RINGS = ("QV_MON_KEPT_EVENTS", "QV_MON_OTHER_EVENTS")  # the events of each ring
RING_SHIFT = 6  # QV_MON_LOG_RING
ENTRIES = define(ABI / "log.h", "QV_MON_LOG_ENTRIES")
INSTANCES = 1 + define(TOP / "include/uapi/linux/qv_reply.h", "QV_MAX_CELLS")


def events() -> dict[int, tuple[str, str]]:
    """Returns name and sentence of each event of the monitor's log, by its number."""
    head = (ABI / "log.h").read_text(encoding="utf-8")
    found = {}
    for ring, name in enumerate(RINGS):
        table = head.partition(f"#define {name}")[2].partition("#define ")[0]
        rows = re.findall(r'X\((QV_LOG_\w+),((?:[\s\\]*"[^"]*")+)\)', table)
        for number, (event, text) in enumerate(rows, ring << RING_SHIFT):
            found[number] = (event, "".join(re.findall(r'"([^"]*)"', text)))
    return found


def entry_place(ring: int, seq: int) -> int:
    """Returns where in an instance the entry with that number is."""
    return LOG + 64 + (ring * ENTRIES + (seq - 1) % ENTRIES) * ENTRY.size


@dataclass
class Entry:
    """An entry of a monitor's log."""

    tsc: int
    cpu: int
    name: str
    text: str  # with %llx, %llu
    values: tuple[int, int]

    def __str__(self) -> str:
        text = re.sub(r"%#?ll([ux])", lambda f: "%d" if f[1] == "u" else "%#x", self.text)
        name = IMPOSSIBLE if self.impossible else self.name
        return f"  {self.tsc:>16} cpu {self.cpu}: {name}: {text % self.values[:text.count('%')]}"

    @property
    def impossible(self) -> bool:
        """Whether a guest shut down at an address that only the monitor has."""
        return self.name == "QV_LOG_SHUTDOWN" and IMAGE <= self.values[0] < IMAGE + IMAGE_MAX


@dataclass
class Block:
    """An instance of the monitor, as it is in RAM."""

    pa: int
    number: int
    name: str
    open: bytes  # the part that Linux may read

    def log(self) -> list[Entry]:
        """Returns the last entries of both rings, in order of time."""
        known = events()
        entries = []
        for ring, head in enumerate(struct.unpack_from(f"<{len(RINGS)}Q", self.open, LOG)):
            for seq in range(max(1, head - min(ENTRIES, LAST) + 1), head + 1):
                at, tsc, cpu, what, *values = ENTRY.unpack_from(self.open, entry_place(ring, seq))
                name, text = known.get(what, (f"event {what}", "%llu %llu"))
                if at == seq:
                    entries.append(Entry(tsc, cpu, name, text, (values[0], values[1])))
        return sorted(entries, key=lambda entry: entry.tsc)

    @property
    def state(self) -> str:
        [state] = struct.unpack_from("<I", self.open)
        return STATES[state] if state < len(STATES) else str(state)

    @property
    def cpus(self) -> int:
        [number] = struct.unpack_from("<I", self.open, 4)
        return min(int(number), 64)


Read = Callable[[int, int], bytes]  # (address, length): bytes of RAM


def blocks(read: Read, ram: list[range]) -> list[Block]:
    """Finds the instances in RAM. `ram` has the ranges of its addresses."""
    found: list[Block] = []
    for pa in (pa for part in ram for pa in part[::HUGE]):
        if len(found) < INSTANCES and struct.unpack("<2Q", read(pa + MARK, 16)) == (MAGIC, pa):
            part = read(pa, OPEN)
            *words, checksum = struct.unpack_from(f"<{MARK_WORDS}Q", part, MARK)
            if checksum != ~sum(words) & (1 << 64) - 1:
                continue
            [number] = struct.unpack_from("<Q", part, MARK + MARK_ID)
            name = part[MARK + MARK_NAME:MARK + MARK_NAME + NAME_LEN].split(b"\0")[0].decode(errors="replace")
            found.append(Block(pa, number, name, part))
    return sorted(found, key=lambda block: block.number)


def layout(image: Path) -> dict[str, tuple[int, int]]:
    """Returns offset and size of some members of struct pcpu."""
    if not image.exists():
        return {}
    wanted = [part for field in FIELDS for part in
              ("-ex", f'printf "{field} %d %d\\n", &((struct pcpu *)0)->{field}, sizeof(((struct pcpu *)0)->{field})')]
    said = enter.run(roots.ensure("tool"), ["gdb", "-batch", *wanted, str(image)]).stdout
    return {name: (int(at), int(size)) for name, at, size in re.findall(r"^(\w+) (\d+) (\d+)$", said, re.MULTILINE)}


def cpus(block: Block, read: Read, known: dict[str, tuple[int, int]]) -> Iterator[str]:
    """Describes the monitor's record of each CPU in an instance."""
    for index in range(block.cpus):
        record = read(block.pa + CPUS + index * CPU_LEN, 0x1000)
        value = {name: int.from_bytes(record[at:at + size], "little") for name, (at, size) in known.items()}
        phase = value.pop("phase", len(PHASES))
        rest = " ".join(f"{name}={number:#x}" for name, number in value.items())
        yield f"  CPU {index}: {PHASES[phase] if phase < len(PHASES) else phase}; {rest}"


def vendor(machine: "Machine") -> str:
    return machine.config.machine.partition("-")[0]


def monitor(machine: "Machine", found: list[Block]) -> Iterator[str]:
    """Describes each instance of the monitor."""
    known = layout(build.OUT / f"hypervisor/qv-{vendor(machine)}.elf")
    read = machine.emulator.read_ram
    for block in found:
        yield f"instance {block.number} ({block.name or 'Linux'}) at {block.pa:#x}: {block.state}"
        yield from cpus(block, read, known)
        yield from map(str, block.log())


def linux(machine: "Machine") -> Iterator[str]:
    """Has Linux print its tasks, if it runs."""
    for key, what in SYSRQ.items():
        before = machine.console.stat().st_size
        machine.emulator.sysrq(key)
        time.sleep(ANSWER * min(machine.config.patience, 5))
        said = machine.console.read_bytes()[before:].decode(errors="replace").replace("\r", "")
        yield f"{what} (SysRq {key}):\n{said or '  (Linux prints nothing)'}"


def emulators_fault(machine: "Machine", found: list[Block]) -> bool:
    """Returns whether the machine ended with a defect of QEMU that QV cannot have caused: the last
    that the front end's monitor has seen is a shutdown of Linux at an address of its own."""
    last = [entry for block in found[:1] if block.number == 0 for entry in block.log()[-1:]]
    return bool(machine.dead) and vendor(machine) == "amd" and any(entry.impossible for entry in last)


def write(machine: "Machine", why: str, place: Path) -> bool:
    """Writes all that is known to a file. Returns emulators_fault()."""
    found: list[Block] = []

    def instances() -> Iterator[str]:
        found.extend(blocks(machine.emulator.read_ram, machine.emulator.ram()))
        yield from monitor(machine, found)
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "registers": lambda: iter([machine.emulator.registers()]),
        "monitor": instances,
        "Linux": lambda: iter([]) if machine.dead else linux(machine),
        "console": lambda: iter([machine.console_tail(200)]),
    }
    end = time.monotonic() + LIMIT * machine.config.patience
    with place.open("w", encoding="utf-8", errors="backslashreplace") as file:
        print(f"{why}\n{machine.config}", file=file)
        for name, part in parts.items():
            print(f"\n== {name}", file=file, flush=True)
            try:
                for line in part() if time.monotonic() < end else ["(no time left)"]:
                    print(line, file=file, flush=True)
            except Exception as error:  # the other parts may still be there
                print(f"(not known: {error!r})", file=file, flush=True)
    return emulators_fault(machine, found)
