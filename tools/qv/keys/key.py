# SPDX-License-Identifier: GPL-2.0-only
"""The shape of a key of a cell's file: its verbs, and the helpers that several parsers use."""

from __future__ import annotations

import os

from ..nodes import MappingNode, Node, ScalarNode, SequenceNode
from ..record import dataclass
from ..words import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    from .. import abi
    from ..machine import Machine
    from ..problems import Problems
    from . import CellConfig

    Item = TypeVar("Item")
    Wrong = tuple[str, str, str]  # the key, its problem, the remedy

TRUE = ("true", "yes", "on")


@dataclass
class Context:
    """The facts that a parser needs."""

    key: str
    problems: Problems
    machine: Machine
    folder: str

    def folders(self) -> list[str]:
        """Returns where names of files begin: the folder of the cell's file, and if that is a link,
        the folder of its target."""
        file = self.problems.file
        real = [os.path.dirname(os.path.realpath(file))] if os.path.islink(file) else []
        return [self.folder, *real]

    def bad(self, node: Node, wrong: str, right: str) -> None:
        self.problems.add(node, self.key, wrong, right)

    def bad_kind(self, node: Node, right: str) -> None:
        self.bad(node, f"{kind(node)} is wrong here", right)


def _no_problems(*_: object) -> Iterable[Wrong]:
    return ()


def _not_packed(_cell: CellConfig, _request: abi.CellCreate) -> None:
    """The key has no member of its own in the request."""


def _no_data(_info: abi.CellInfo) -> dict[str, Any]:
    return {}


def _no_lines(_data: dict[str, Any]) -> list[tuple[str, str]]:
    return []


@dataclass(frozen=True)
class Key:
    """One key. Its verbs, in the order in which a command calls them:

    parse   reads the value and checks it against this machine; None: it reported a problem
    check   yields contradictions to other keys of the file; it receives the nodes of all keys
    clash   yields collisions with the cell of another file
    taken   yields resources that existing cells have, or that are absent at present
    pack    writes the value into the request to the driver
    data    the members of `cell show --json`
    show    the lines of `cell show`, from these members"""

    name: str
    # its row in Documentation/reference/configuration.md, which scripts/keys writes
    meaning: str
    value: str
    default: str
    # the remedy in the message that the key is missing
    example: str
    parse: Callable[[Node, Context], Any]
    required: bool = False
    check: Callable[[CellConfig, dict[str, Node]], Iterable[Wrong]] = _no_problems
    clash: Callable[[CellConfig, CellConfig, str, Machine], Iterable[Wrong]] = _no_problems
    taken: Callable[[CellConfig, Machine], Iterable[Wrong]] = _no_problems
    pack: Callable[[CellConfig, abi.CellCreate], None] = _not_packed
    data: Callable[[abi.CellInfo], dict[str, Any]] = _no_data
    show: Callable[[dict[str, Any]], list[tuple[str, str]]] = _no_lines

    def field(self) -> str:
        """Returns the name of the value in CellConfig."""
        return self.name.replace("-", "_")


def kind(node: Node) -> str:
    """Returns the kind of a node, in words."""
    if isinstance(node, SequenceNode):
        return "a list"
    if isinstance(node, MappingNode):
        return "a mapping"
    if node.tag == "null":
        return "nothing"
    names = {
        "int": "the number",
        "float": "the number",
        "bool": "the truth value",
        "str": "the text",
        "timestamp": "the date",
    }
    return f"{names.get(node.tag, 'the value')} `{shown(node.value)}`"


def scalar(node: Node, context: Context, right: str, tags: tuple[str, ...]) -> str | None:
    """Returns a scalar of one of these types, as it is written."""
    if not isinstance(node, ScalarNode) or node.tag not in tags:
        context.bad_kind(node, right)
        return None
    return str(node.value)


def file_name(node: Node, context: Context, right: str) -> str | None:
    raw = scalar(node, context, right, ("str",))
    if raw is None:
        return None
    if not raw or "\0" in raw:
        context.bad(node, "the file name is empty" if not raw else "holds a NUL character", right)
        return None
    return raw


def truth(node: Node, context: Context, right: str = "true or false") -> bool | None:
    raw = scalar(node, context, right, ("bool",))
    return None if raw is None else raw.lower() in TRUE


def mapping(
    node: Node, context: Context, what: str, keys: tuple[str, ...], example: str
) -> dict[str, Node] | None:
    """Returns the values of a `what`. It is written as a mapping with some of `keys`."""
    if not isinstance(node, MappingNode):
        context.bad_kind(node, example)
        return None
    values: dict[str, Node] = {}
    for key, value in node.value:
        if key.value not in keys or key.value in values:
            context.bad(
                key,
                f"`{shown(str(key.value))}` is not a key of a {what}, or is given twice",
                ", ".join(keys),
            )
            return None
        values[key.value] = value
    return values


def listed(
    node: Node,
    context: Context,
    example: str,
    one: Callable[[Node, Context], Item | None],
    twice: Callable[[Item, list[Item]], tuple[str, str] | None],
    most: int,
    plural: str,
) -> list[Item] | None:
    """Returns the items of a list. `one` parses an item, or reports its problem and returns None.
    `twice` returns the problem and the remedy of an item that collides with earlier ones."""
    if not isinstance(node, SequenceNode):
        context.bad_kind(node, example)
        return None
    found: list[Item] = []
    for entry in node.value:
        item = one(entry, context)
        if item is None:
            continue
        collision = twice(item, found)
        if collision:
            context.bad(entry, *collision)
        else:
            found.append(item)
    if len(node.value) > most:
        context.bad(node, f"{len(node.value)} {plural} are listed", f"at most {most}")
    return found


def matched(pattern: str, text: str) -> re.Match[str] | None:
    """Returns the match if the whole text matches. `re` is imported here, since it loads slowly and
    commands that only show cells do not need it."""
    import re

    return re.fullmatch(pattern, text)
