# SPDX-License-Identifier: GPL-2.0-only
"""`apic`: the mode of the local APICs of the cell's CPUs."""

from __future__ import annotations

from .. import abi
from ..words import shown
from .key import Context, Key, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import CellConfig
    from ..nodes import Node

EXAMPLE = "x2apic or machine"
MODES = {"x2apic": abi.Apic.X2APIC, "machine": abi.Apic.MACHINE}
NAMES = {abi.Apic.BEST: "best", **{mode: name for name, mode in MODES.items()}}


def parse(node: Node, context: Context) -> int | None:
    raw = scalar(node, context, EXAMPLE, ("str",))
    if raw is None:
        return None
    if raw not in MODES:
        context.bad(node, f"there is no mode `{shown(raw)}`", EXAMPLE)
        return None
    return MODES[raw]


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.apic = cell.apic


def data(info: abi.CellInfo) -> dict[str, Any]:
    """The choice of the cell's file, and the mode that the cell has."""
    return {"apic": NAMES.get(info.apic, str(info.apic)), "x2apic": bool(info.x2apic)}


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [("apic", "x2APIC mode" if found["x2apic"] else "xAPIC mode")]


KEY = Key(
    "apic",
    "mode of the local APICs of its CPUs",
    "`x2apic` or `machine`",
    "`x2apic` where possible",
    EXAMPLE,
    parse,
    pack=pack,
    data=data,
    show=show,
)
