# SPDX-License-Identifier: GPL-2.0-only
"""Facts about this machine that configurations are checked against."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

IMAGES = "/usr/share/qv/images"


def parse_cpu_list(listing: str) -> set[int]:
    """`0-3,5` as the kernel writes it -> {0, 1, 2, 3, 5}."""
    cpus: set[int] = set()
    for part in listing.strip().split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            cpus.update(range(int(first), int(last or first) + 1))
    return cpus


@dataclass(frozen=True)
class Machine:
    """CPUs that exist, memory in bytes, and where images are looked for."""

    cpus: frozenset[int]
    mem_total: int
    mem_available: int
    image_dirs: tuple[Path, ...] = (Path(IMAGES),)
    pci: frozenset[int] | None = None  # functions of segment 0; None: not known

    @staticmethod
    def this(root: str = "/") -> Machine:
        """The machine that we run on (or whose /sys and /proc lie under root)."""
        base = Path(root)
        memory = _meminfo(base / "proc/meminfo")
        total = memory.get("MemTotal", 0)
        return Machine(_existing_cpus(base / "sys/devices/system/cpu"), total,
                       memory.get("MemAvailable", total), pci=_pci_functions(base / "sys/bus/pci/devices"))


def _pci_functions(folder: Path) -> frozenset[int] | None:
    try:
        names = [path.name for path in folder.iterdir()]
    except OSError:
        return None
    found = (re.fullmatch(r"0000:([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])", name) for name in names)
    return frozenset(int(m[1], 16) << 8 | int(m[2], 16) << 3 | int(m[3]) for m in found if m)


def _existing_cpus(folder: Path) -> frozenset[int]:
    found: set[int] | None = None
    for name in ("possible", "present"):
        try:
            cpus = parse_cpu_list((folder / name).read_text())
        except OSError:
            continue
        found = cpus if found is None else found & cpus
    return frozenset(found if found is not None else {0})


def _meminfo(path: Path) -> dict[str, int]:
    values: dict[str, int] = {}
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return values
    for line in lines:
        key, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            values[key] = int(words[0]) * 1024
    return values
