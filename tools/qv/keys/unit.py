# SPDX-License-Identifier: GPL-2.0-only
"""How the unit of the cell (qv-cell@NAME.service) treats it: `after`, `requires`, `restart`,
`on-failure`, `ready`, `stop`. The driver does not know these keys."""

from __future__ import annotations

from .. import abi
from ..nodes import ScalarNode
from ..record import dataclass
from ..words import shown
from .key import Context, Key, listed, mapping, matched, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..machine import Machine
    from ..nodes import Node
    from . import CellConfig
    from .key import Wrong

MOST_MS = 3_600_000
READY = ("auto", "flag", "beat", "start")
ON_FAILURE = ("restart", "hold")


@dataclass(frozen=True)
class Restart:
    """The reaction to failures. Times are in ms."""

    limit: int = 10  # how often in succession a failed cell starts again
    first: int = 100  # before the first new start; doubled each time
    most: int = 30_000
    healthy: int = 60_000  # a life of this length ends the succession


# None: as the options and the environment of `qvctl cell run` say
HOLD = Restart(limit=0)


def _time(node: Node, context: Context, example: str) -> int | None:
    raw = scalar(node, context, example, ("str", "int"))
    if raw is None:
        return None
    match = matched(r"([0-9]{1,7})(ms|s|m)", raw)
    found = int(match[1]) * {"ms": 1, "s": 1000, "m": 60_000}[match[2]] if match else MOST_MS + 1
    if found > MOST_MS:
        context.bad(node, f"`{shown(raw)}` is not a time of at most an hour", example)
        return None
    return found


# ---- after, requires ----

CELLS = "a list of cells such as [camera, planner]"


def _cell(node: Node, context: Context) -> str | None:
    name = scalar(node, context, CELLS, ("str",))
    if name is None:
        return None
    if (
        not matched(r"[a-z0-9][a-z0-9_-]*", name)
        or len(name) >= abi.NAME_LEN
        or name == abi.FRONT_END
    ):
        context.bad(node, f"`{shown(name)}` is not the name of a cell", CELLS)
        return None
    return name


def _twice(name: str, earlier: list[str]) -> tuple[str, str] | None:
    return (f"cell {name} is listed twice", "each cell once") if name in earlier else None


def _cells(node: Node, context: Context) -> list[str] | None:
    return listed(node, context, CELLS, _cell, _twice, abi.MAX_CELLS - 1, "cells")


def _check_cells(cell: CellConfig, values: dict[str, Node]) -> Iterator[Wrong]:
    for key, names in (("after", cell.after), ("requires", cell.requires)):
        if key in values and cell.name in names:
            yield key, "names this cell itself", "other cells"


def _circle(cell: CellConfig, other: CellConfig, whose: str, _machine: Machine) -> Iterator[Wrong]:
    if other.name in cell.before() and cell.name in other.before():
        yield (
            "after" if other.name in cell.after else "requires",
            f"each waits for the other: this cell and {whose}",
            "one order",
        )


AFTER = Key(
    "after",
    "cells whose units start before this one, and end after it",
    "list of names: `[camera]`",
    "`[]`",
    CELLS,
    _cells,
    check=_check_cells,
    clash=_circle,
)
REQUIRES = Key(
    "requires",
    "as `after`; they are started with this cell, "
    "and this cell ends when the unit of one is stopped",
    "list of names: `[camera]`",
    "`[]`",
    CELLS,
    _cells,
)


# ---- restart ----

RESTART_EXAMPLE = "{limit: 10, first: 100ms, most: 30s, healthy: 60s}, some of them, or off"


def _restart(node: Node, context: Context) -> Restart | None:
    if isinstance(node, ScalarNode) and node.value == "off":
        return HOLD
    values = mapping(
        node, context, "restart", ("limit", "first", "most", "healthy"), RESTART_EXAMPLE
    )
    if values is None:
        return None
    found: dict[str, int] = {}
    for name, value in values.items():
        number = (
            _limit(value, context) if name == "limit" else _time(value, context, RESTART_EXAMPLE)
        )
        if number is None:
            return None
        found[name] = number
    restart = Restart(**found)
    if restart.first > restart.most or not restart.most:
        context.bad(node, "`first` is longer than `most`, or `most` is 0", RESTART_EXAMPLE)
        return None
    return restart


def _limit(node: Node, context: Context) -> int | None:
    raw = scalar(node, context, RESTART_EXAMPLE, ("int",))
    if raw is None:
        return None
    if not matched(r"[0-9]{1,6}", raw):
        context.bad(node, f"`{shown(raw)}` is not a count", RESTART_EXAMPLE)
        return None
    return int(raw)


RESTART = Key(
    "restart",
    "how often in succession it starts again after a failure, and the pauses before",
    "`{limit: 10, first: 100ms, most: 30s, healthy: 60s}`, or `off`",
    "as `/etc/qv/qv.conf` says, else the values to the left",
    RESTART_EXAMPLE,
    _restart,
)


# ---- on-failure, ready, stop ----


def _one_of(node: Node, context: Context, words: tuple[str, ...]) -> str | None:
    example = f"one of {', '.join(words)}"
    raw = scalar(node, context, example, ("str",))
    if raw is not None and raw not in words:
        context.bad(node, f"`{shown(raw)}` is unknown", example)
        return None
    return raw


def _on_failure(node: Node, context: Context) -> str | None:
    return _one_of(node, context, ON_FAILURE)


def _ready(node: Node, context: Context) -> str | None:
    return _one_of(node, context, READY)


def _check_ready(cell: CellConfig, values: dict[str, Node]) -> Iterator[Wrong]:
    if cell.ready == "flag" and not cell.console and "ready" in values:
        yield (
            "ready",
            "the flag is in the console pages, which this cell does not have",
            "console: true, or ready: beat",
        )


def _stop(node: Node, context: Context) -> int | None:
    return _time(node, context, "a time such as 500ms, 5s or 1m")


ON_FAILURE_KEY = Key(
    "on-failure",
    "what its unit does when it fails: "
    "starts it again, or holds it as it is until `qvctl cell recover`",
    "`restart` or `hold`",
    "`restart`",
    "restart or hold",
    _on_failure,
)
READY_KEY = Key(
    "ready",
    "what tells that the inmate is ready, so that units after it start",
    "`flag` (the inmate's state in the comm page), `beat` (its first heartbeat), `start`, "
    "or `auto`",
    "`auto`",
    "auto, flag, beat or start",
    _ready,
    check=_check_ready,
)
STOP = Key(
    "stop",
    "how long it may take to shut down before it is stopped by force",
    "time: `500ms`, `5s`, `1m`",
    "as `/etc/qv/qv.conf` says, else `5s`",
    "5s",
    _stop,
)
