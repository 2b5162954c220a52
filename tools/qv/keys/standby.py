# SPDX-License-Identifier: GPL-2.0-only
"""`standby`: how often the cell begins again by itself after failures, without Linux."""

from __future__ import annotations

from .. import abi
from ..record import dataclass
from ..words import duration, shown
from .key import Context, Key, matched, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..nodes import Node
    from . import CellConfig
    from .key import Wrong

MOST_MS = 3_600_000
EXAMPLE = f"N/TIME such as 3/10s, with N from 1 to {abi.STANDBY_MAX}, or off"


@dataclass(frozen=True)
class Standby:
    """At most `times` restarts in any `ms`."""

    times: int = 0  # 0: off
    ms: int = 0


def parse(node: Node, context: Context) -> Standby | None:
    raw = scalar(node, context, EXAMPLE, ("str", "bool"))
    if raw is None:
        return None
    if raw.lower() == "off":
        return Standby()
    match = matched(r"([0-9]{1,3})/([0-9]{1,7})(ms|s|m)", raw)
    times = int(match[1]) if match else 0
    ms = int(match[2]) * {"ms": 1, "s": 1000, "m": 60_000}[match[3]] if match else 0
    if not 1 <= times <= abi.STANDBY_MAX or not 1 <= ms <= MOST_MS:
        context.bad(node, f"`{shown(raw)}` is not a number of restarts in at most an hour", EXAMPLE)
        return None
    return Standby(times, ms)


def check(cell: CellConfig, values: dict[str, Node]) -> Iterator[Wrong]:
    if cell.standby.times and cell.dynamic_channels.memory:
        yield "standby", "a cell on standby has no channels at run time", "no `dynamic-channels`"


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.standby, request.standby_ms = cell.standby.times, cell.standby.ms


def data(info: abi.CellInfo) -> dict[str, Any]:
    if not info.standby:
        return {"standby": None}
    return {
        "standby": {
            "times": info.standby,
            "ms": info.standby_ms,
            "restarts": info.restarts,
            "restart_ns": info.restart_ns,
        }
    }


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    one = found["standby"]
    if not one:
        return []
    words = f"at most {one['times']} restarts in {duration(one['ms'])}"
    if one["restarts"]:
        words += f"; {one['restarts']} in this life, the last took {one['restart_ns'] // 1000} us"
    return [("standby", words)]


KEY = Key(
    "standby",
    "how often it begins again by itself after failures, also while Linux is dead",
    "N/TIME: `3/10s`; or `off`",
    "`off`",
    EXAMPLE,
    parse,
    check=check,
    pack=pack,
    data=data,
    show=show,
)
