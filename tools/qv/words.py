# SPDX-License-Identifier: GPL-2.0-only
"""Values in the form that a person writes in a file and reads in a listing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import abi

MIB = 1 << 20


def size(count: int) -> str:
    """Returns bytes as a person writes them in a file: 64M, 1G."""
    if count and count % (1 << 30) == 0:
        return f"{count >> 30}G"
    return f"{count // MIB}M"


def number(count: int, thing: str) -> str:
    """Returns `1 cell`, `2 cells`."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def pool(total: int, free: int) -> str:
    """Returns the state of the pool."""
    return (
        f"the pool has {size(total)} for cells, {size(free)} of it free"
        if total
        else "there is no pool of memory for cells"
    )


def shown(value: str, limit: int = 40) -> str:
    """Returns a value of the file, made safe to print in a line."""
    safe = "".join(c if c.isprintable() else "?" for c in value)
    return safe if len(safe) <= limit else safe[:limit] + "..."


def text(raw: bytes) -> str:
    """Returns a string of the driver, without control characters."""
    return "".join(c if c.isprintable() else "?" for c in raw.decode("utf-8", "replace"))


def port_range(first: int, last: int) -> str:
    return f"{first:#x}" if first == last else f"{first:#x}-{last:#x}"


def pci_name(bdf: int) -> str:
    return f"{bdf >> 8:02x}:{bdf >> 3 & 31:02x}.{bdf & 7}"


def kept(cpus: list[int], before: list[int]) -> str:
    """Returns what is said behind the state of the pool: the CPUs that are kept, and those that
    were kept before."""
    back = [cpu for cpu in before if cpu not in cpus]
    return _cpus(cpus, "kept ready for cells") + _cpus(back, "given back to Linux")


def _cpus(cpus: list[int], what: str) -> str:
    return f"; CPU{'s' if len(cpus) > 1 else ''} {cpu_list(cpus)} {what}" if cpus else ""


def cpu_list(cpus: list[int]) -> str:
    """[1, 2, 3, 5] -> 1-3,5."""
    parts: list[list[int]] = []
    for cpu in cpus:
        if parts and cpu == parts[-1][1] + 1:
            parts[-1][1] = cpu
        else:
            parts.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def duration(milliseconds: int) -> str:
    """Returns milliseconds as a person writes them in a file: 500ms, 2s."""
    return f"{milliseconds // 1000}s" if milliseconds % 1000 == 0 else f"{milliseconds}ms"


def ipi_name(direct: int) -> str:
    """Returns how the IPIs of Linux or a cell are sent, as a person writes it."""
    return "direct" if direct else "filtered"


# by enum qv_dma_level: the name of the level of protection from DMA
DMA_LEVELS = ("none", "devices", "memory", "full")
_DMA = (
    "a hostile Linux could write all memory by its devices",
    (
        "devices of cells reach their cells only; "
        "a hostile Linux could write all memory by its own devices"
    ),
    "devices of Linux reach memory of Linux only, but their interrupts reach every CPU",
    "devices of Linux reach memory and CPUs of Linux only",
)


def dma_level(info: abi.StatusInfo) -> str:
    """Returns the level of protection from DMA, and why it is not better, as a person reads it."""
    why = text(info.dma_obstacle)
    return f"DMA {DMA_LEVELS[info.dma_level]}: {_DMA[info.dma_level]}{f' ({why})' if why else ''}"


def lower_level(cell: str, level: str) -> str:
    """Returns why a cell has a lower level than the machine, as a person reads it."""
    return (
        f"level of cell {cell}: DMA {level} "
        "(a hostile Linux could lead the DMA of its virtual functions)"
    )


IPI_DIRECT = (
    "IPIs of Linux are direct: they pass no filter, so a hostile Linux could interrupt cells with "
    "any vector or NMI"
)

REPLACED = "the loaded module qv is another than the installed one, as after an upgrade"
REPLACED_REMEDY = (
    "systemctl restart qv.service (its cells shut down, and those of units start again)"
)


def outside(count: int) -> str:
    """Returns the level of protection when some CPUs of the machine are not under the monitor."""
    return (
        f"CPUs outside ({count}): offline, and Linux does not let them come; "
        "a hostile Linux could run them bare"
    )


def channel_counts(members: dict[str, Any]) -> str:
    """The counts of a channel on one line."""
    return ", ".join(
        f"{name.replace('_', ' ')} {value}" for name, value in members.items() if value is not None
    )
