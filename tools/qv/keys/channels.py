# SPDX-License-Identifier: GPL-2.0-only
"""`channels`: memory that the cell shares with Linux or other cells."""

from __future__ import annotations

from .. import abi
from ..nodes import MappingNode, SequenceNode
from ..record import dataclass
from ..words import channel_counts, shown, text
from . import channel_owner
from .key import Context, Key, listed, mapping, matched, scalar, truth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Literal

    from ..machine import Machine
    from ..nodes import Node
    from . import CellConfig
    from .key import Wrong

EXAMPLE = (
    "a list such as [{name: sensor, type: four-slot, item: 64, writer: quest, readers: [linux]}]"
)
KEYS = (
    "name",
    "type",
    "item",
    "slots",
    "full",
    "writer",
    "writers",
    "readers",
    "reconnect",
    "schema",
    "owner",
    "mode",
    "bell",
)
NAME = r"[a-z0-9][a-z0-9_-]*"
SCHEMA = r"[!-~]*"
MAX_BYTES = (16 << 20) - 4096  # a channel has 16 MiB, of which its life page has 4 KiB
MAX_SLOTS = 1 << 18
TYPES = {"mailbox": 1, "four-slot": 2, "ring": 3, "memory": 4}  # enum qv_chan_type
FULL = {"error": 1, "block": 2, "drop-newest": 3, "drop-oldest": 4}  # enum qv_chan_full
BELL = 1 << 0  # QV_CHAN_BELL
RECONNECT = 1 << 1  # QV_CHAN_RECONNECT
ONE_SHOT = 1 << 2  # QV_CHAN_ONE_SHOT
LINUX = "linux"
BELL_EXAMPLE = "true, false, one-shot, or {vector: 64, cpu: 0}"


@dataclass
class Bell:
    """The interrupt by which this cell learns of news."""

    vector: int  # 0: the driver chooses
    cpu: int  # index into `cpus`
    one_shot: bool = False  # it rings once until a reader arms it again


@dataclass
class Channel:
    """A channel, as one of its ends describes it."""

    name: str
    type: str
    item: int  # bytes
    slots: int
    full: str  # empty for other types than rings
    ends: list[str]  # the writers first
    writers: int  # number of ends that write
    reconnect: bool
    schema: str
    owner: tuple[int, int]  # user and group of its device; without an end of Linux all are 0
    mode: int
    bell: Bell | None = None

    def words(self) -> list[str]:
        """The words that all ends must have, as in a file. Each end chooses its own bell."""
        bell = "one-shot" if self.bell and self.bell.one_shot else "true" if self.bell else "false"
        return [
            f"type: {self.type}",
            f"item: {self.item}",
            f"slots: {self.slots}",
            f"full: {self.full}",
            f"{'writer' if self.writers == 1 else 'writers'}: "
            f"{', '.join(self.ends[: self.writers])}",
            f"readers: [{', '.join(self.ends[self.writers :])}]",
            f"reconnect: {'auto' if self.reconnect else 'never'}",
            f"schema: {self.schema or 'none'}",
            f"owner: {self.owner[0]}:{self.owner[1]}",
            f"mode: {channel_owner.mode_text(self.mode)}",
            f"bell: {bell}",
        ]

    def difference(self, other: Channel) -> tuple[str, str] | None:
        """Returns the first words in which the ends differ: those of this end, of the other."""
        return next((pair for pair in zip(self.words(), other.words()) if pair[0] != pair[1]), None)

    def __str__(self) -> str:
        queue = f", {self.slots} slots, full: {self.full}" if self.full else ""
        return (
            f"{self.name}, {self.type}, {self.item} bytes{queue}, "
            f"{_direction(self.ends[: self.writers], self.ends[self.writers :])}"
        )


def parse(node: Node, context: Context) -> list[Channel] | None:
    return listed(node, context, EXAMPLE, _one, _twice, abi.MAX_CHANNELS, "channels")


def _twice(channel: Channel, earlier: list[Channel]) -> tuple[str, str] | None:
    if channel.name not in (other.name for other in earlier):
        return None
    return f"the channel {channel.name} is listed twice", "each channel once"


def _one(node: Node, context: Context) -> Channel | None:
    values = mapping(node, context, "channel", KEYS, EXAMPLE)
    if values is None:
        return None
    several = "writers" in values
    needed = ("name", "type", "item") if several else ("name", "type", "item", "writer", "readers")
    missing = next((key for key in needed if key not in values), None)
    if missing:
        context.bad(node, f"the channel has no `{missing}`", EXAMPLE)
        return None
    name = _channel_name(values["name"], context)
    kind = _word(values["type"], context, TYPES)
    item = _number(values["item"], context, 8, MAX_BYTES, 8)
    if several and (kind != "memory" or "writer" in values):
        context.bad(
            values["writers"],
            "`writers` is for a channel of type memory, in place of `writer`",
            "leave it out",
        )
        return None
    ends = _ends(values, context)
    slots, full = _queue(node, values, context, kind == "ring")
    reconnect: str | None = "auto"
    if "reconnect" in values:
        reconnect = _word(values["reconnect"], context, ("auto", "never"))
    schema = _schema(values["schema"], context) if "schema" in values else ""
    device = _device(values, context, ends)
    bell = _bell(values["bell"], context) if "bell" in values else None
    if None in (name, kind, item, ends, slots, full, reconnect, schema, device) or bell is False:
        return None
    assert name and kind and item and ends and slots is not None and device
    if kind == "memory" and bell and bell.one_shot:
        context.bad(values["bell"], "a channel of type memory has a one-shot bell", "bell: true")
        return None
    if kind in ("ring", "mailbox") and len(ends) != 2:
        context.bad(values["readers"], f"a {kind} has {len(ends) - 1} readers", "one reader")
        return None
    return Channel(
        name,
        kind,
        item,
        slots,
        full or "",
        ends,
        _writers(values),
        reconnect == "auto",
        schema or "",
        *device,
        bell or None,
    )


def _device(
    values: dict[str, Node], context: Context, ends: list[str] | None
) -> tuple[tuple[int, int], int] | None:
    """Returns the owner and the mode of the channel's device."""
    if ends is not None and LINUX not in ends:
        wrong = next((key for key in ("owner", "mode") if key in values), None)
        if wrong:
            context.bad(
                values[wrong], f"a channel without an end of Linux has no `{wrong}`", "leave it out"
            )
            return None
        return (0, 0), 0
    owner, mode = channel_owner.owner(values, context), channel_owner.mode(values, context)
    return None if owner is None or mode is None else (owner, mode)


def _name(node: Node, context: Context, what: str) -> str | None:
    name = scalar(node, context, what, ("str",))
    if name is not None and (not matched(NAME, name) or len(name) >= abi.NAME_LEN):
        context.bad(node, f"`{shown(name)}` is not {what}", "at most 31 of a to z, 0 to 9, - and _")
        return None
    return name


def _channel_name(node: Node, context: Context) -> str | None:
    name = _name(node, context, "a name")
    if name is not None and name.startswith("key-"):
        context.bad(
            node,
            f"`{shown(name)}` begins as the names of channels at run time",
            "a name without key-",
        )
        return None
    return name


def end_name(node: Node, context: Context) -> str | None:
    return _name(node, context, "the name of a cell, or linux")


def end_names(nodes: list[Node], context: Context) -> list[str] | None:
    """Returns the names of ends, each of which is given once. None: a problem was added."""
    ends: list[str] = []
    for node in nodes:
        name = end_name(node, context)
        if name is None:
            return None
        if name in ends:
            context.bad(node, f"{name} is given twice", "each end once")
            return None
        ends.append(name)
    return ends


def _schema(node: Node, context: Context) -> str | None:
    schema = scalar(node, context, "a text such as temperature@1", ("str",))
    most = abi.CHANNEL_SCHEMA_LEN - 1
    if schema is not None and (not matched(SCHEMA, schema) or len(schema) > most):
        context.bad(
            node, f"`{shown(schema)}` is not a schema", "at most 63 characters without blanks"
        )
        return None
    return schema


def _bell(node: Node, context: Context) -> Bell | Literal[False] | None:
    """Returns None without a bell, False after a problem."""
    if getattr(node, "value", None) == "one-shot":
        return Bell(0, 0, one_shot=True)
    if not isinstance(node, MappingNode):
        wanted = truth(node, context, BELL_EXAMPLE)
        return False if wanted is None else Bell(0, 0) if wanted else None
    values = mapping(node, context, "bell", ("vector", "cpu", "one-shot"), BELL_EXAMPLE)
    if values is None:
        return False
    vector = _number(values["vector"], context, 32, 255, 1) if "vector" in values else 0
    cpu = _number(values["cpu"], context, 0, abi.MAX_CPUS - 1, 1) if "cpu" in values else 0
    one_shot = (
        truth(values["one-shot"], context, "true or false") if "one-shot" in values else False
    )
    return False if None in (vector, cpu, one_shot) else Bell(vector or 0, cpu or 0, bool(one_shot))


def _word(node: Node, context: Context, words: Iterable[str]) -> str | None:
    right = " or ".join(words)
    word = scalar(node, context, right, ("str",))
    if word is not None and word not in words:
        context.bad(node, f"`{shown(word)}` is wrong here", right)
        return None
    return word


def _number(node: Node, context: Context, least: int, most: int, step: int) -> int | None:
    right = f"a number from {least} to {most}" + (f", a multiple of {step}" if step > 1 else "")
    raw = scalar(node, context, right, ("int",))
    if raw is None:
        return None
    number = int(raw) if matched(r"[0-9]{1,9}", raw) else -1
    if not least <= number <= most or number % step:
        context.bad(node, f"{shown(raw)} is wrong here", right)
        return None
    return number


def _writers(values: dict[str, Node]) -> int:
    return len(values["writers"].value) if "writers" in values else 1


def _names(
    values: dict[str, Node], context: Context, key: str, least: int, most: int
) -> list[Node] | None:
    node = values[key]
    if not isinstance(node, SequenceNode) or not least <= len(node.value) <= most:
        context.bad(
            node, f"the {key} are not a list of {least} to {most} names", "a list such as [linux]"
        )
        return None
    return list(node.value)


def _ends(values: dict[str, Node], context: Context) -> list[str] | None:
    """Returns the names of the ends, the writers first."""
    most = abi.CHANNEL_ENDS - 1
    if "writers" in values:
        writers = _names(values, context, "writers", 2, most + 1)
        readers = (
            _names(values, context, "readers", 0, most + 1 - len(writers or []))
            if "readers" in values
            else []
        )
    else:
        writers, readers = [values["writer"]], _names(values, context, "readers", 1, most)
    if writers is None or readers is None:
        return None
    return end_names([*writers, *readers], context)


def _queue(
    node: Node, values: dict[str, Node], context: Context, ring: bool
) -> tuple[int | None, str | None]:
    """Returns the slots, and the policy of a writer if they are full."""
    if not ring:
        wrong = next((key for key in ("slots", "full") if key in values), None)
        if wrong:
            context.bad(values[wrong], f"only a ring has `{wrong}`", "leave it out")
            return None, None
        return 1, ""
    if "slots" not in values:
        context.bad(node, "the ring has no `slots`", "such as slots: 32")
        return None, None
    slots = _number(values["slots"], context, 1, MAX_SLOTS, 1)
    if slots is not None and slots & (slots - 1):
        context.bad(values["slots"], f"it has {slots} slots", "a power of two")
        slots = None
    return slots, _word(values["full"], context, FULL) if "full" in values else "error"


def check(cell: CellConfig, _values: dict[str, Node]) -> Iterator[Wrong]:
    for channel in cell.channels:
        if cell.name and cell.name not in channel.ends:
            yield (
                "channels",
                f"the cell {cell.name} is no end of the channel {channel.name}",
                f"{cell.name} as its writer or reader",
            )
        if channel.bell and cell.cpus and channel.bell.cpu >= len(cell.cpus):
            yield (
                "channels",
                f"the bell of {channel.name} is for cpu {channel.bell.cpu}",
                f"a place in `cpus`: 0 to {len(cell.cpus) - 1}",
            )


def clash(cell: CellConfig, other: CellConfig, whose: str, _machine: Machine) -> Iterator[Wrong]:
    theirs = {channel.name: channel for channel in other.channels}
    for channel in cell.channels:
        found = channel.difference(theirs[channel.name]) if channel.name in theirs else None
        if found:
            yield (
                "channels",
                f"{channel.name} is another channel in {whose}, "
                f"which says {found[1]} where this file says {found[0]}",
                "the same words in the file of each end",
            )


def _flags(channel: Channel) -> int:
    return (
        RECONNECT * channel.reconnect
        | BELL * (channel.bell is not None)
        | ONE_SHOT * (channel.bell is not None and channel.bell.one_shot)
    )


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.num_channels = len(cell.channels)
    for number, channel in enumerate(cell.channels):
        plan = abi.ChannelPlan(
            name=channel.name.encode(),
            schema=channel.schema.encode(),
            type=TYPES[channel.type],
            full=FULL.get(channel.full, 0),
            flags=_flags(channel),
            num_ends=len(channel.ends),
            item=channel.item,
            slots=channel.slots,
            bell_vector=channel.bell.vector if channel.bell else 0,
            bell_cpu=channel.bell.cpu if channel.bell else 0,
            writers=channel.writers if channel.writers > 1 else 0,
            uid=channel.owner[0],
            gid=channel.owner[1],
            mode=channel.mode,
        )
        for end, name in enumerate(channel.ends):
            plan.ends[end].value = name.encode()
        request.channels[number] = plan


def _direction(writers: list[str], readers: list[str]) -> str:
    return (
        f"{' and '.join(writers)} to {', '.join(readers)}"
        if readers
        else f"between {' and '.join(writers)}"
    )


def word_of(words: dict[str, int], value: int) -> str | None:
    return next((word for word, number in words.items() if number == value), None)


def of_plan(plan: abi.ChannelPlan) -> dict[str, Any]:
    """The members of a channel in JSON."""
    ends = [text(plan.ends[end].value) for end in range(min(plan.num_ends, abi.CHANNEL_ENDS))]
    return {
        "name": text(plan.name),
        "type": word_of(TYPES, plan.type),
        "item": plan.item,
        "slots": plan.slots,
        "full": word_of(FULL, plan.full),
        "writer": ends[0] if ends else None,
        "writers": ends[: max(1, plan.writers)],
        "readers": ends[1:],
        "reconnect": "auto" if plan.flags & RECONNECT else "never",
        "bell": "one-shot" if plan.flags & ONE_SHOT else bool(plan.flags & BELL),
        "schema": text(plan.schema) or None,
        "owner": channel_owner.owner_text(plan.uid, plan.gid) if LINUX in ends else None,
        "mode": channel_owner.mode_text(plan.mode) if LINUX in ends else None,
    }


def data(info: abi.CellInfo) -> dict[str, Any]:
    plans = info.channels[: min(info.num_channels, abi.MAX_CHANNELS)]
    return {"channels": [of_plan(plan) for plan in plans], "channel_memory": info.channel_memory}


def _text(channel: dict[str, Any]) -> str:
    queue = f", {channel['slots']} slots" if channel["type"] == "ring" else ""
    writers = channel["writers"]
    others = [name for name in channel["readers"] if name not in writers]
    now = f"; {channel_counts(channel['counts'])}" if channel.get("counts") else ""
    return (
        f"{channel['name']}, {channel['type']} of {channel['item']} bytes{queue}, "
        f"{_direction(writers, others)}{now}"
    )


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [("channel", _text(channel)) for channel in found["channels"]]
    if lines:
        lines.append(("channel RAM", f"{found['channel_memory'] >> 20} MiB"))
    return lines


KEY = Key(
    "channels",
    "memory that it shares with Linux or other cells",
    "list: `[{name: sensor, type: four-slot, item: 64, writer: quest, readers: [linux]}]`",
    "`[]`",
    EXAMPLE,
    parse,
    check=check,
    clash=clash,
    pack=pack,
    data=data,
    show=show,
)
