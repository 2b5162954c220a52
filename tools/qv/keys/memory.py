# SPDX-License-Identifier: GPL-2.0-only
"""`memory`: the cell's RAM."""

from __future__ import annotations

from ..words import MIB, shown, size
from .key import Context, Key, matched, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from .. import abi
    from ..machine import Machine
    from ..nodes import Node
    from . import CellConfig
    from .key import Wrong

EXAMPLE = "a size such as 64M or 1G"
LEAST = 4 * MIB
STEP = 2 * MIB


def parse(node: Node, context: Context) -> int | None:
    raw = scalar(node, context, EXAMPLE, ("str", "int"))
    if raw is None:
        return None
    match = matched(r"([0-9]{1,9})([MG])(?:iB)?", raw)
    if not match:
        bare = matched(r"[0-9]+", raw)
        context.bad(
            node, f"{raw} has no unit" if bare else f"`{shown(raw)}` is not a size", _meant(raw)
        )
        return None
    memory = int(match[1]) * (MIB if match[2] == "M" else 1 << 30)
    return memory if _possible(node, raw, memory, context) else None


def _meant(raw: str) -> str:
    """Returns the correct form of a size such as `64m`, `64 MB`, `65536K`, `0.5G`."""
    match = matched(r"([0-9]{1,9})(\.[0-9]{1,3})? ?([kmg])(?:i?b)?", raw.lower())
    if not match:
        return EXAMPLE
    kib = float(match[1] + (match[2] or "")) * {"k": 1, "m": 1 << 10, "g": 1 << 20}[match[3]]
    count = int(kib) >> 10
    return f"perhaps {size(count * MIB)}; M is 2^20 bytes, G is 2^30" if count else EXAMPLE


def _possible(node: Node, raw: str, memory: int, context: Context) -> bool:
    machine = context.machine
    free = f"at most {size(machine.mem_available // STEP * STEP)}, which is free now"
    if memory % STEP:
        context.bad(
            node,
            f"{raw} is not a multiple of 2M",
            f"{size(memory - MIB)} or {size(memory + MIB)}" if memory > LEAST else "4M",
        )
    elif memory < LEAST:
        context.bad(node, f"{raw} is too little for any cell", "at least 4M")
    elif memory > machine.mem_total:
        context.bad(node, f"{raw} is more than the {size(machine.mem_total)} of this machine", free)
    elif memory > machine.mem_available:
        context.bad(node, f"{raw} is more than is free", free)
    else:
        return True
    return False


def together(cells: Sequence[CellConfig], machine: Machine) -> Iterator[Wrong]:
    """Checks that there is memory for all these cells together. Each single cell must already
    fit."""
    total = sum(cell.memory for cell in cells)
    alone = max((cell.memory for cell in cells), default=0)
    if total > machine.mem_available >= alone > 0:
        yield (
            "memory",
            f"all {len(cells)} cells together want {size(total)}",
            f"at most {size(machine.mem_available)}, which is free now",
        )


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.memory = cell.memory


def data(info: abi.CellInfo) -> dict[str, Any]:
    return {"memory": info.memory}


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [("memory", size(found["memory"]))]


KEY = Key(
    "memory",
    "the cell's RAM",
    "size with `M`, `MiB`, `G` or `GiB`: `64M`, `1G`",
    "",
    EXAMPLE,
    parse,
    required=True,
    pack=pack,
    data=data,
    show=show,
)
