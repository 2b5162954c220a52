# SPDX-License-Identifier: GPL-2.0-only
"""`lock`: whether the cell may lock management."""

from __future__ import annotations

from .. import abi
from ..nodes import ScalarNode
from .key import Context, Key, truth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..nodes import Node
    from . import CellConfig

EXAMPLE = "true, false or may"


def parse(node: Node, context: Context) -> int | None:
    if isinstance(node, ScalarNode) and node.value == "may":
        return abi.Lock.MAY
    locked = truth(node, context, EXAMPLE)
    return {None: None, True: abi.Lock.START, False: abi.Lock.NEVER}[locked]


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.lock = cell.lock


def data(info: abi.CellInfo) -> dict[str, Any]:
    """Whether the cell has locked management now. The driver does not report whether it may."""
    return {"locked": bool(info.locked)}


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [("lock", "it has locked management" if found["locked"] else "none")]


KEY = Key(
    "lock",
    "whether the cell may lock management (see `qvctl cell lock`)",
    "`true`, `false` or `may`",
    "`false`",
    EXAMPLE,
    parse,
    pack=pack,
    data=data,
    show=show,
)
