# SPDX-License-Identifier: GPL-2.0-only
"""`dynamic-channels`: memory for channels that the cell opens at run time, by a key."""

from __future__ import annotations

from .. import abi
from ..nodes import SequenceNode
from ..record import dataclass, field
from ..words import MIB, shown, size, text
from . import channel_owner
from .channels import FULL, TYPES, end_names, word_of
from .key import Context, Key, mapping, matched, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..nodes import Node
    from . import CellConfig
    from .key import Wrong

EXAMPLE = "such as {memory: 8M, with: [linux]}"
SIZE = "a multiple of 2M up to 16M"
PAGE = 2 * MIB
MOST = 16 * MIB  # the range of all channels of a cell


@dataclass
class Dynamic:
    """Memory that is set aside, and the ends that may share it."""

    memory: int = 0
    ends: list[str] = field(default_factory=list)


def parse(node: Node, context: Context) -> Dynamic | None:
    values = mapping(node, context, "set of channels at run time", ("memory", "with"), EXAMPLE)
    if values is None:
        return None
    missing = next((key for key in ("memory", "with") if key not in values), None)
    if missing:
        context.bad(node, f"there is no `{missing}`", EXAMPLE)
        return None
    memory = _memory(values["memory"], context)
    ends = _ends(values["with"], context)
    return None if memory is None or ends is None else Dynamic(memory, ends)


def _memory(node: Node, context: Context) -> int | None:
    raw = scalar(node, context, SIZE, ("str", "int"))
    if raw is None:
        return None
    match = matched(r"([0-9]{1,3})M(?:iB)?", raw)
    memory = int(match[1]) * MIB if match else 0
    if not memory or memory % PAGE or memory > MOST:
        context.bad(node, f"`{shown(raw)}` cannot be set aside", SIZE)
        return None
    return memory


def _ends(node: Node, context: Context) -> list[str] | None:
    if not isinstance(node, SequenceNode) or not 1 <= len(node.value) <= abi.MAX_WITH:
        context.bad(
            node, f"`with` is not a list of 1 to {abi.MAX_WITH} names", "a list such as [linux]"
        )
        return None
    return end_names(node.value, context)


def check(cell: CellConfig, _values: dict[str, Node]) -> Iterator[Wrong]:
    dynamic = cell.dynamic_channels
    if cell.name and cell.name in dynamic.ends:
        yield (
            "dynamic-channels",
            f"the cell {cell.name} shares channels with itself",
            "linux, or another cell",
        )
    if len(cell.channels) + dynamic.memory // PAGE > abi.MAX_CHANNELS:
        yield (
            "dynamic-channels",
            f"with {len(cell.channels)} channels that are listed, {size(dynamic.memory)} is "
            "too much",
            f"at most {size((abi.MAX_CHANNELS - len(cell.channels)) * PAGE)}",
        )


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.num_dynamic = cell.dynamic_channels.memory // PAGE
    request.num_with = len(cell.dynamic_channels.ends)
    for number, name in enumerate(cell.dynamic_channels.ends):
        request.with_ends[number].value = name.encode()


def opened(info: abi.CellInfo) -> list[dict[str, Any]]:
    """Returns the channels at run time of which Linux has an end, as `channels.of_plan` does."""
    cell, found = text(info.name), []
    for channel in info.open[: min(info.num_open, abi.MAX_CHANNELS)]:
        ends = ["linux", cell] if channel.linux_end == 0 else [cell, "linux"]
        found.append(
            {
                "name": f"key-{channel.key:016x}",
                "key": channel.key,
                "type": word_of(TYPES, channel.type),
                "item": channel.item,
                "slots": channel.slots,
                "full": word_of(FULL, channel.full),
                "writer": ends[0],
                "readers": ends[1:],
                "reconnect": "auto",
                "bell": False,
                "schema": None,
                "owner": channel_owner.owner_text(0, 0),
                "mode": channel_owner.mode_text(0),
            }
        )
    return found


def data(info: abi.CellInfo) -> dict[str, Any]:
    if not info.num_dynamic:
        return {"dynamic_channels": None}
    names = range(min(info.num_with, abi.MAX_WITH))
    ends = [text(info.with_ends[number].value) for number in names]
    return {
        "dynamic_channels": {
            "memory": info.num_dynamic * PAGE,
            "with": ends,
            "keys": [channel["key"] for channel in opened(info)],
        }
    }


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    dynamic = found["dynamic_channels"]
    if not dynamic:
        return []
    keys = ", ".join(map(str, dynamic["keys"]))
    return [
        (
            "run time",
            f"{size(dynamic['memory'])} for channels with {', '.join(dynamic['with'])}"
            + (f"; Linux has opened the keys {keys}" if keys else ""),
        )
    ]


KEY = Key(
    "dynamic-channels",
    "memory for channels that it opens at run time, and the ends to share them with",
    "mapping: `{memory: 8M, with: [linux, other]}`",
    "none",
    EXAMPLE,
    parse,
    check=check,
    pack=pack,
    data=data,
    show=show,
)
