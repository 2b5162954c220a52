# SPDX-License-Identifier: GPL-2.0-only
"""`migrate`: the links by which programs of a cell with Quest move to other cells and come from
there, and how Quest receives them."""

from __future__ import annotations

from .. import abi
from ..nodes import MappingNode
from ..record import dataclass
from .key import Context, Key, listed, mapping, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..nodes import Node
    from . import CellConfig
    from .channels import Channel
    from .key import Wrong

EXAMPLE = "a list such as [there, {link: back, arena: memory}]"
MOST = 8  # LINKS_MAX in inmates/quest/migration/link.h
LEAST_ITEM = 256  # the same as in inmates/quest/migration/migration.c
# the beginning of a word that inmates/quest/migration/link.h describes
WORD = "migrate="


@dataclass(frozen=True)
class Link:
    link: str
    arena: str  # empty: pages are sent in messages

    def word(self) -> str:
        return WORD + self.link + ("," + self.arena if self.arena else "")


def _one(node: Node, context: Context) -> Link | None:
    if not isinstance(node, MappingNode):
        link = scalar(node, context, "the name of a mailbox", ("str",))
        return None if link is None else Link(link, "")
    values = mapping(node, context, "link", ("link", "arena"), EXAMPLE)
    if values is None:
        return None
    if "link" not in values:
        context.bad(node, "there is no `link`", "{link: MAILBOX, arena: MEMORY}")
        return None
    link = scalar(values["link"], context, "the name of a mailbox", ("str",))
    arena = (
        scalar(values["arena"], context, "the name of a channel of type memory", ("str",))
        if "arena" in values
        else ""
    )
    return None if link is None or arena is None else Link(link, arena)


def _twice(one: Link, earlier: list[Link]) -> tuple[str, str] | None:
    if one.link not in (other.link for other in earlier):
        return None
    return f"the link {one.link} is listed twice", "each link once"


def parse(node: Node, context: Context) -> list[Link] | None:
    return listed(node, context, EXAMPLE, _one, _twice, MOST, "links")


def _link_problem(one: Link, channel: Channel | None) -> tuple[str, str] | None:
    if channel is None:
        return f"there is no channel {one.link}", "a mailbox that `channels` of this file lists"
    if channel.type != "mailbox" or channel.item < LEAST_ITEM:
        return f"{channel} is no link", f"a mailbox with items of at least {LEAST_ITEM} bytes"
    if "linux" in channel.ends:
        return f"an end of the link {one.link} is linux", "a mailbox between two cells"
    return None


def _arena_problem(one: Link, link: Channel, arena: Channel | None) -> tuple[str, str] | None:
    """The source of programs writes the arena, and their destination reads it."""
    source, destination = link.ends
    if arena is None:
        return (
            f"there is no channel {one.arena}",
            "a channel of type memory that `channels` of this file lists",
        )
    readers = arena.ends[arena.writers :]
    if (
        arena.type != "memory"
        or arena.ends[: arena.writers] != [source]
        or destination not in readers
    ):
        return (
            f"{arena} is no arena of programs that move by {one.link}",
            f"a channel of type memory with writer: {source}, readers: [{destination}]",
        )
    return None


def _own_arenas(cell: CellConfig) -> set[str]:
    leaving = {channel.name for channel in cell.channels if channel.ends[0] == cell.name}
    return {one.arena for one in cell.migrate if one.arena and one.link in leaving}


def needs(cell: CellConfig) -> Iterator[Wrong]:
    """Yields what is wrong with the channels of the links."""
    there = {channel.name: channel for channel in cell.channels}
    for one in cell.migrate:
        wrong = _link_problem(one, there.get(one.link))
        if not wrong and one.arena:
            wrong = _arena_problem(one, there[one.link], there.get(one.arena))
        if wrong:
            yield ("migrate", *wrong)
    if len(_own_arenas(cell)) > 1:
        yield (
            "migrate",
            f"the programs of {cell.name} have {len(_own_arenas(cell))} arenas",
            "one arena for all links by which they leave",
        )


def check(cell: CellConfig, _values: dict[str, Node]) -> Iterator[Wrong]:
    yield from needs(cell)
    if cell.migrate and any(word.startswith(WORD) for word in cell.cmdline.split(" ")):
        yield (
            "cmdline",
            f"holds `{WORD}...`, and there is the key `migrate`",
            "all under `migrate`, where they are checked",
        )
    length = len(cell.command_line().encode())
    if cell.migrate and length >= abi.CMDLINE_LEN:
        yield (
            "migrate",
            f"makes a command line of {length} bytes, with other keys",
            f"at most {abi.CMDLINE_LEN - 1}: fewer links, shorter names or a shorter `cmdline`",
        )


KEY = Key(
    "migrate",
    "links by which programs of its Quest move: see [Move a program](../how-to/migration.md)",
    "list: `[there, {link: back, arena: memory}]`",
    "`[]`",
    EXAMPLE,
    parse,
    check=check,
)
