# SPDX-License-Identifier: GPL-2.0-only
"""`bell-rate`: how many doorbells of Linux may interrupt the cell in a millisecond."""

from __future__ import annotations

from .. import abi
from ..words import shown
from .key import Context, Key, matched, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..nodes import Node
    from . import CellConfig

EXAMPLE = f"a number of doorbells a millisecond, 1 to {abi.BELL_RATE_MAX}"


def parse(node: Node, context: Context) -> int | None:
    raw = scalar(node, context, EXAMPLE, ("int",))
    if raw is None:
        return None
    if not matched(r"[0-9]{1,4}", raw) or not 1 <= int(raw) <= abi.BELL_RATE_MAX:
        context.bad(node, f"`{shown(raw)}` doorbells a millisecond cannot be", EXAMPLE)
        return None
    return int(raw)


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.bell_rate = cell.bell_rate


def data(info: abi.CellInfo) -> dict[str, Any]:
    return {"bell_rate": info.bell_rate}


KEY = Key(
    "bell-rate",
    "doorbells per millisecond from Linux",
    "number",
    "`10`",
    EXAMPLE,
    parse,
    pack=pack,
    data=data,
)
