# SPDX-License-Identifier: GPL-2.0-only
"""`name`: the cell's name in every command."""

from __future__ import annotations

from .. import abi
from ..words import shown
from .key import Context, Key, matched, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..machine import Machine
    from ..nodes import Node
    from . import CellConfig
    from .key import Wrong

RULE = "a to z, 0 to 9, - and _, beginning with a letter or digit, at most 31 characters"


def parse(node: Node, context: Context) -> str | None:
    name = scalar(
        node, context, "a name such as quest; in quotes if it looks like a number", ("str",)
    )
    if name is None:
        return None
    if not matched(r"[a-z0-9][a-z0-9_-]*", name) or len(name) >= abi.NAME_LEN:
        context.bad(node, f"`{shown(name)}` is not a cell name", RULE)
        return None
    if name == abi.FRONT_END:
        context.bad(node, "`linux` is the front end's own name", "another name")
        return None
    return name


def clash(cell: CellConfig, other: CellConfig, _whose: str, _machine: Machine) -> Iterator[Wrong]:
    if cell.name and cell.name == other.name:
        yield (
            "name",
            f"`{cell.name}` is also the name of the cell in {other.file}",
            "a name of its own for each cell",
        )


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.name = cell.name.encode()


KEY = Key(
    "name",
    "the cell's name in every command",
    "text",
    "",
    "a name such as quest",
    parse,
    required=True,
    clash=clash,
    pack=pack,
)
