# SPDX-License-Identifier: GPL-2.0-only
"""Facts about this machine that configurations are checked against."""

from __future__ import annotations

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

    @staticmethod
    def this(root: str = "/") -> Machine:
        """The machine that we run on (or whose /sys and /proc lie under root)."""
        base = Path(root)
        memory = _meminfo(base / "proc/meminfo")
        total = memory.get("MemTotal", 0)
        return Machine(_existing_cpus(base / "sys/devices/system/cpu"), total,
                       memory.get("MemAvailable", total))


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
