# SPDX-License-Identifier: GPL-2.0-only
"""`watchdog`: how long the heartbeat of the inmate may stop, in ms. 0 means no limit."""

from __future__ import annotations

from .. import abi
from ..nodes import ScalarNode
from ..words import duration, shown
from .key import Context, Key, matched, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..nodes import Node
    from . import CellConfig

EXAMPLE = "a time such as 500ms or 2s, or off"
DEFAULT = 3000


def parse(node: Node, context: Context) -> int | None:
    if isinstance(node, ScalarNode) and node.tag == "bool" and node.value.lower() == "off":
        return 0
    raw = scalar(node, context, EXAMPLE, ("str", "int"))
    if raw is None:
        return None
    if raw == "off":
        return 0
    match = matched(r"([0-9]{1,9})(ms|s)", raw)
    if not match:
        bare = matched(r"[0-9]+", raw)
        context.bad(
            node, f"{raw} has no unit" if bare else f"`{shown(raw)}` is not a time", EXAMPLE
        )
        return None
    milliseconds = int(match[1]) * (1 if match[2] == "ms" else 1000)
    if not abi.WATCHDOG_MIN <= milliseconds <= abi.WATCHDOG_MAX:
        few = milliseconds < abi.WATCHDOG_MIN
        context.bad(
            node,
            f"{raw} is too {'short' if few else 'long'}",
            f"{duration(abi.WATCHDOG_MIN)} to {duration(abi.WATCHDOG_MAX)}, or off",
        )
        return None
    return milliseconds


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.watchdog_ms = cell.watchdog


def data(info: abi.CellInfo) -> dict[str, Any]:
    return {"watchdog_ms": info.watchdog_ms}


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [("watchdog", duration(found["watchdog_ms"]) if found["watchdog_ms"] else "off")]


KEY = Key(
    "watchdog",
    "how long the heartbeat may stop",
    "time with `ms` or `s`: `500ms`, `2s`; or `off`",
    "`3s`",
    EXAMPLE,
    parse,
    pack=pack,
    data=data,
    show=show,
)
