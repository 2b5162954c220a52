# SPDX-License-Identifier: GPL-2.0-only
"""`modules`: files that the kernel finds in the cell's memory, such as programs for Quest."""

from __future__ import annotations

import os

from .. import abi
from ..nodes import ScalarNode
from ..record import dataclass
from ..words import shown, size, text
from .key import Context, Key, file_name, listed, mapping, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..nodes import Node
    from . import CellConfig
    from .key import Wrong

EXAMPLE = "a list such as [hello, {file: more.cpio, args: more}]"
ONE_EXAMPLE = 'a file name, or a mapping such as {file: hello, args: "hello 1 2"}'
ARGS_EXAMPLE = f"args: a line of printable text, at most {abi.MODULE_ARGS_LEN - 1} bytes"
PAGE = 4096
LOW = 1 << 20  # modules are placed behind the image, which is placed behind the first MiB


@dataclass
class Module:
    """A file, its length, and the text that the kernel finds with it."""

    path: str
    args: str
    length: int
    contents: bytes | None = None  # None: those of the file


def parse(node: Node, context: Context) -> list[Module] | None:
    return listed(node, context, EXAMPLE, _one, lambda *_: None, abi.MAX_MODULES, "modules")


def _one(node: Node, context: Context) -> Module | None:
    if isinstance(node, ScalarNode):
        return _module(node, None, context)
    values = mapping(node, context, "module", ("file", "args"), ONE_EXAMPLE)
    if values is None:
        return None
    if "file" not in values:
        context.bad(node, "a module has no `file`", ONE_EXAMPLE)
        return None
    return _module(values["file"], values.get("args"), context)


def _module(file: Node, args: Node | None, context: Context) -> Module | None:
    raw = file_name(file, context, ONE_EXAMPLE)
    if raw is None:
        return None
    places = [os.path.join(folder, raw) for folder in context.folders()]
    path = next(filter(os.path.lexists, places), places[0])
    length = _length(path, file, context)
    words = (
        os.path.basename(path)
        if args is None
        else scalar(args, context, ARGS_EXAMPLE, ("str", "int"))
    )
    if length is None or words is None or not _passed_on(words, args or file, context):
        return None
    return Module(path, words, length)


def _length(path: str, node: Node, context: Context) -> int | None:
    """Returns the length of a file that can be a module, or reports why it cannot."""
    wrong = "is not a file" if os.path.exists(path) else "is a link to nothing"
    try:
        if not os.path.lexists(path):
            context.bad(
                node,
                f"there is no file {shown(path, 80)}",
                "an existing file; sought next to this YAML file",
            )
            return None
        if os.path.isfile(path):
            with open(path, "rb") as stream:
                length = os.fstat(stream.fileno()).st_size
            wrong = "is empty" if not length else f"has more than {size(abi.MAX_IMAGE)}"
            if 0 < length <= abi.MAX_IMAGE:
                return length
    except OSError as error:
        wrong = f"cannot be read: {(error.strerror or 'error').lower()}"
    context.bad(
        node, f"{shown(path, 80)} {wrong}", f"a readable file of at most {size(abi.MAX_IMAGE)}"
    )
    return None


def _passed_on(words: str, node: Node, context: Context) -> bool:
    length = len(words.encode("utf-8", "replace"))
    if not words or not words.isprintable():
        context.bad(node, "the text of a module is empty or not printable", ARGS_EXAMPLE)
    elif length >= abi.MODULE_ARGS_LEN:
        context.bad(node, f"the text of a module has {length} bytes", ARGS_EXAMPLE)
    else:
        return True
    return False


def check(cell: CellConfig, _nodes: dict[str, Node]) -> Iterator[Wrong]:
    """Modules that can never fit. How much the image needs, only the driver knows."""
    need = sum(-(-module.length // PAGE) * PAGE for module in cell.all_modules())
    if need and 0 < cell.memory < need + LOW:
        yield (
            "modules",
            f"need {need >> 10} KiB, "
            f"and the cell's memory of {size(cell.memory)} has the image, too",
            "more `memory`, or smaller modules",
        )


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    """Packs only the texts. The contents are added when the request is sent."""
    request.num_modules = len(cell.all_modules())
    for number, module in enumerate(cell.all_modules()):
        request.modules[number].args = module.args.encode("utf-8", "replace")


def data(info: abi.CellInfo) -> dict[str, Any]:
    modules = info.modules[: min(info.num_modules, abi.MAX_MODULES)]
    return {"modules": [{"args": text(module.args), "bytes": module.len} for module in modules]}


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("module", f"{module['args']} ({module['bytes']} bytes)") for module in found["modules"]
    ]


KEY = Key(
    "modules",
    "files that the kernel finds in its memory: [Modules](#modules)",
    "list of files: `[hello, {file: more.cpio, args: more}]`",
    "`[]`",
    EXAMPLE,
    parse,
    check=check,
    pack=pack,
    data=data,
    show=show,
)
