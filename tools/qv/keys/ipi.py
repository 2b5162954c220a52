# SPDX-License-Identifier: GPL-2.0-only
"""`ipi`: whether the cell's interrupt commands pass the monitor's filter."""

from __future__ import annotations

from .. import abi
from ..words import ipi_name, shown
from .key import Context, Key, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from . import CellConfig
    from ..machine import Machine
    from ..nodes import Node
    from .key import Wrong

EXAMPLE = "filtered or direct"
VOID = "would void the lock"
RIGHT = "one of the two keys"
COME = "filtered, or take nosmt, maxcpus= and nr_cpus= from the kernel's command line"
FIRST = "create it before cells without direct IPIs, or: qvctl enable --ipi direct"


def parse(node: Node, context: Context) -> bool | None:
    raw = scalar(node, context, EXAMPLE, ("str",))
    if raw is None:
        return None
    if raw not in ("filtered", "direct"):
        context.bad(node, f"`{shown(raw)}` is not a way to send IPIs", EXAMPLE)
        return None
    return raw == "direct"


def check(cell: CellConfig, _values: dict[str, Node]) -> Iterable[Wrong]:
    if cell.ipi and cell.lock:
        yield "ipi", f"direct IPIs {VOID} of the cell itself", RIGHT


def clash(cell: CellConfig, other: CellConfig, whose: str, machine: Machine) -> Iterable[Wrong]:
    """The order counts, since cells are created in the order of the files."""
    return _beside(cell, bool(other.lock), other.ipi, whose, machine)


def taken(cell: CellConfig, machine: Machine) -> Iterable[Wrong]:
    if cell.ipi and machine.outside:
        yield (
            "ipi",
            f"direct IPIs could start {machine.outside} CPUs that are outside the monitor",
            COME,
        )
    if cell.lock and machine.ipi:
        yield "lock", f"the direct IPIs of Linux {VOID}", "enable QV again without --ipi direct"
    for other in machine.cells:
        if other.name != cell.name:
            yield from _beside(cell, other.lock, other.ipi, f"the cell {other.name}", machine)


def _beside(
    cell: CellConfig, lock: bool, ipi: bool, whose: str, machine: Machine
) -> Iterable[Wrong]:
    """`lock`, `ipi`: those of the cell that is created before this one."""
    if cell.ipi and lock:
        yield "ipi", f"direct IPIs {VOID} of {whose}", RIGHT
    elif cell.ipi and not ipi and not machine.ipi:
        yield "ipi", f"direct IPIs would reach {whose}, which is without them", FIRST
    if cell.lock and ipi:
        yield "lock", f"the direct IPIs of {whose} {VOID}", RIGHT


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.ipi = int(cell.ipi)


def data(info: abi.CellInfo) -> dict[str, Any]:
    return {"ipi": ipi_name(info.ipi)}


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    direct = found["ipi"] == "direct"
    return [("ipi", "direct: it may interrupt every CPU of the machine")] if direct else []


KEY = Key(
    "ipi",
    "whether its IPIs pass the monitor's filter: "
    "[direct IPIs](../explanation/security-model.md#direct-ipis)",
    "`filtered` or `direct`",
    "`filtered`",
    EXAMPLE,
    parse,
    check=check,
    clash=clash,
    taken=taken,
    pack=pack,
    data=data,
    show=show,
)
