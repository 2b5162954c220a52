# SPDX-License-Identifier: GPL-2.0-only
"""`dma-protection`: the least level of protection from the DMA of a hostile Linux."""

from __future__ import annotations

from .. import abi
from ..words import DMA_LEVELS, shown
from .key import Context, Key, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import CellConfig
    from ..nodes import Node

EXAMPLE = "full, memory, devices or none"


def parse(node: Node, context: Context) -> int | None:
    raw = scalar(node, context, EXAMPLE, ("str",))
    if raw is None:
        return None
    if raw not in DMA_LEVELS:
        context.bad(node, f"there is no level `{shown(raw)}`", EXAMPLE)
        return None
    return DMA_LEVELS.index(raw)


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.dma_level = cell.dma_protection


def data(info: abi.CellInfo) -> dict[str, Any]:
    return {"dma_protection": DMA_LEVELS[info.dma_level]}


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    """`dma_level` is the level that the cell has: cli/show.py."""
    wants = (
        ""
        if found["dma_protection"] == "none"
        else f"; the cell accepts none below {found['dma_protection']}"
    )
    return [("dma", f"level {found['dma_level']}{wants}")]


KEY = Key(
    "dma-protection",
    "least [level](../explanation/security-model.md) of protection from the DMA of a hostile Linux",
    "`full`, `memory`, `devices` or `none`",
    "`none`",
    EXAMPLE,
    parse,
    pack=pack,
    data=data,
    show=show,
)
