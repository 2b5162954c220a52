# SPDX-License-Identifier: GPL-2.0-only
"""Facts about this machine that configurations are checked against."""

from __future__ import annotations

import os

from .record import dataclass
from .words import pci_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable

IMAGES = "/usr/share/qv/images"
BARS = 6
IORESOURCE_IO = 0x100
CPUS, MEMORY = 8192, 1 << 52  # more than a machine has


def parse_cpu_list(listing: str) -> set[int]:
    """Converts a list as the kernel writes it: `0-3,5` becomes {0, 1, 2, 3, 5}."""
    cpus: set[int] = set()
    for part in listing.strip().split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            cpus.update(range(int(first), int(last or first) + 1))
    return cpus


@dataclass(frozen=True)
class Taken:
    """The resources of an existing cell."""

    name: str
    cpus: list[int]
    ports: list[tuple[int, int]]
    devices: list[int]
    ipi: bool = False  # its IPIs are direct
    lock: bool = False  # it may lock management
    memory: int = 0  # bytes


@dataclass(frozen=True)
class Machine:
    """CPUs that exist, memory in bytes, the folders of images, and the existing cells."""

    cpus: frozenset[int]
    mem_total: int
    mem_available: int
    image_dirs: tuple[str | os.PathLike[str], ...] = (IMAGES,)
    pci: frozenset[int] | None = None  # numbers of the functions of segment 0; None: unknown
    pci_folder: str = ""  # folders of sysfs, with one entry each
    offline: frozenset[int] = frozenset()
    cells: tuple[Taken, ...] = ()
    ipi: bool = False  # the IPIs of Linux are direct
    outside: int = 0  # number of CPUs that are not under the monitor

    @staticmethod
    def this(
        root: str = "/",
        cells: tuple[Taken, ...] = (),
        ipi: bool = False,
        outside: int = 0,
        pool: int = 0,
        kept: Iterable[int] = (),
    ) -> Machine:
        """Returns the facts of this machine, or of the machine whose /sys and /proc are under
        root. The free bytes of the pool are available, too. The CPUs that are `kept` for cells do
        not count as offline."""
        memory = _meminfo(os.path.join(root, "proc/meminfo"))
        total = memory.get("MemTotal", 0)
        pci = os.path.join(root, "sys/bus/pci/devices")
        return Machine(
            _existing_cpus(os.path.join(root, "sys/devices/system/cpu"), cells),
            total,
            memory.get("MemAvailable", total) + pool,
            pci=_pci_functions(pci),
            pci_folder=pci,
            offline=frozenset(
                parse_cpu_list(
                    read_text(os.path.join(root, "sys/devices/system/cpu/offline")) or ""
                )
            ).difference(kept),
            cells=cells,
            ipi=ipi,
            outside=outside,
        )

    def with_all_memory(self) -> Machine:
        """Returns this machine as if all of its memory were free: whether it is free now, the
        driver finds out."""
        return Machine(**{**self.__dict__, "mem_available": self.mem_total})

    def as_any(self) -> Machine:
        """Returns a machine with room for any cell, for commands that compute from files alone: the
        cells may be meant for another machine."""
        return Machine(frozenset(range(CPUS)), MEMORY, MEMORY, self.image_dirs)

    def without(self, names: Container[str]) -> Machine:
        """Returns this machine as if the memory of these cells were free, which their replacements
        may have."""
        freed = sum(cell.memory for cell in self.cells if cell.name in names)
        return Machine(
            **{**self.__dict__, "mem_available": min(self.mem_available + freed, self.mem_total)}
        )

    def pci_ports(self, bdf: int) -> list[tuple[int, int]]:
        """Returns the first and last port of each I/O BAR. A function's file `resource` has a line
        `FIRST LAST FLAGS` for each BAR."""
        text = read_text(os.path.join(self.pci_folder, f"0000:{pci_name(bdf)}", "resource")) or ""
        bars = [[int(word, 16) for word in line.split()] for line in text.splitlines()[:BARS]]
        return [(first, last) for first, last, flags in bars if flags & IORESOURCE_IO and last]


def read_text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return None


def _pci_functions(folder: str) -> frozenset[int] | None:
    """Names in this folder are like 0000:00:1f.7."""
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    found = (name.replace(".", ":").split(":")[1:] for name in names if name.startswith("0000:"))
    return frozenset(
        int(bus, 16) << 8 | int(device, 16) << 3 | int(function) for bus, device, function in found
    )


def _existing_cpus(folder: str, cells: tuple[Taken, ...]) -> frozenset[int]:
    """A CPU of a cell exists, but is not present for Linux if its IPIs are direct."""
    found: set[int] | None = None
    for name in ("possible", "present"):
        listing = read_text(os.path.join(folder, name))
        if listing is not None:
            cpus = parse_cpu_list(listing)
            found = cpus if found is None else found & cpus
    return frozenset(found if found is not None else {0}).union(*(cell.cpus for cell in cells))


def _meminfo(path: str) -> dict[str, int]:
    values: dict[str, int] = {}
    for line in (read_text(path) or "").splitlines():
        key, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            values[key] = int(words[0]) * 1024
    return values
