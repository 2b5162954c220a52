# SPDX-License-Identifier: GPL-2.0-only
"""`cmdline`: the kernel's command line. The words for `vcpus` and `admission` follow it."""

from __future__ import annotations

from .. import abi
from ..nodes import ScalarNode
from ..words import text
from .key import Context, Key, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ..machine import Machine
    from ..nodes import Node
    from . import CellConfig
    from .key import Wrong

NET = "net="
WORDS = ("start=", "vcpu=", "migrate=", "recovery=")  # that questwords.py checks


def parse(node: Node, context: Context) -> str | None:
    if isinstance(node, ScalarNode) and node.tag == "null":
        return ""
    cmdline = scalar(node, context, "a text; in quotes if it looks like something else", ("str",))
    if cmdline is None:
        return None
    strange = next((c for c in cmdline if not c.isprintable()), None)
    if strange is not None:
        joined = "; `>-` joins the lines below it" if strange == "\n" else ""
        context.bad(
            node, f"holds the character U+{ord(strange):04X}", f"one line of printable text{joined}"
        )
        return None
    length = len(cmdline.encode())
    if length >= abi.CMDLINE_LEN:
        context.bad(node, f"has {length} bytes", f"at most {abi.CMDLINE_LEN - 1}")
        return None
    return cmdline


def check(cell: CellConfig, values: dict[str, Node]) -> Iterator[Wrong]:
    if NET in cell.cmdline:
        from .. import netneeds

        yield from netneeds.check(cell, values)
    if any(word in cell.cmdline for word in WORDS):
        from .. import questwords

        yield from questwords.check(cell, values)


def clash(cell: CellConfig, other: CellConfig, whose: str, _machine: Machine) -> Iterable[Wrong]:
    if NET not in cell.cmdline + other.cmdline:
        return ()
    from .. import netneeds

    return netneeds.clash(cell, other, whose)


def taken(cell: CellConfig, machine: Machine) -> Iterable[Wrong]:
    if NET not in cell.cmdline:
        return ()
    from .. import netneeds

    return netneeds.taken(cell, machine)


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.cmdline = cell.command_line().encode()


def data(info: abi.CellInfo) -> dict[str, Any]:
    return {"cmdline": text(info.cmdline)}


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [("cmdline", found["cmdline"] or "-")]


KEY = Key(
    "cmdline",
    "the kernel's command line",
    "text, one line",
    "empty",
    "a text",
    parse,
    check=check,
    clash=clash,
    taken=taken,
    pack=pack,
    data=data,
    show=show,
)
