# SPDX-License-Identifier: GPL-2.0-only
"""`image` and `boot`: the kernel that the cell boots, and how it is loaded. Only the headers are
checked here. The driver, which loads the image, checks more."""

from __future__ import annotations

import os

from .. import abi
from ..words import MIB, shown, size, text
from .key import Context, Key, file_name, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..nodes import Node
    from . import CellConfig

EXAMPLE = "the file name of a kernel, such as quest.elf"
BOOTS = {"multiboot2": abi.Boot.MULTIBOOT2}
# a multiboot2 header is in the first 32 KiB (Multiboot2 2.0, section 3.1)
SEARCHED = 32 << 10
MAGIC = 0xE85250D6
ELF_MACHINES = {1: (3, "ELF32"), 2: (62, "ELF64")}  # for each EI_CLASS: e_machine, and a name
NAME_LEN = 128


def parse(node: Node, context: Context) -> str | None:
    raw = file_name(node, context, EXAMPLE)
    if raw is None:
        return None
    folders = (*context.folders(), *context.machine.image_dirs)
    for path in dict.fromkeys(os.path.join(folder, raw) for folder in folders):
        if os.path.lexists(path):
            return path if _usable(path, node, context) else None
    sought = (
        raw
        if os.path.isabs(raw)
        else " and ".join(dict.fromkeys(str(folder) or "." for folder in folders))
    )
    context.bad(
        node,
        f"there is no file {shown(raw, 80)}",
        f"an existing file; sought {'as' if os.path.isabs(raw) else 'in'} {sought}",
    )
    return None


def _usable(path: str, node: Node, context: Context) -> bool:
    try:
        if not os.path.isfile(path):
            wrong = "is not a file" if os.path.exists(path) else "is a link to nothing"
            context.bad(node, f"{path} {wrong}", "the file of a kernel")
            return False
        with open(path, "rb") as stream:
            length = os.fstat(stream.fileno()).st_size
            start = stream.read(SEARCHED)
    except OSError as error:
        context.bad(
            node, f"{path} cannot be read: {(error.strerror or 'error').lower()}", "a readable file"
        )
        return False
    unbootable = _no_elf(start) or _no_header(start)
    if length == 0:
        context.bad(node, f"{path} is empty", "the file of a kernel")
    elif length > abi.MAX_IMAGE:
        context.bad(node, f"{path} has {length // MIB}M", f"at most {size(abi.MAX_IMAGE)}")
    elif unbootable:
        context.bad(node, f"{path} {unbootable}", "a multiboot2 kernel, such as quest.elf")
    return 0 < length <= abi.MAX_IMAGE and not unbootable


def _number(data: bytes, at: int, length: int) -> int:
    return int.from_bytes(data[at : at + length], "little")


def _no_elf(data: bytes) -> str | None:
    if len(data) < 64 or data[:4] != b"\x7fELF":
        return "is not an ELF file"
    kind = data[4]
    if kind not in ELF_MACHINES or data[5] != 1 or _number(data, 18, 2) != ELF_MACHINES[kind][0]:
        return "is not a kernel for x86 (ELF machine)"
    return None


def _no_header(data: bytes) -> str | None:
    """Returns the first address, aligned to 8 bytes, that has the magic number and the checksum, as
    driver/cell/multiboot2.c does."""
    wrong = "has no multiboot2 header in its first 32 KiB"
    magic = MAGIC.to_bytes(4, "little")
    at = data.find(magic)
    while 0 <= at <= len(data) - 16:
        if at % 8 == 0:
            if not sum(_number(data, at + 4 * word, 4) for word in range(4)) & 0xFFFFFFFF:
                return None
            wrong = "has a multiboot2 header with a wrong checksum"
        at = data.find(magic, at + 1)
    return wrong


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    """Packs only the name. The contents are added when the request is sent."""
    name = os.path.basename(cell.image).encode("utf-8", "replace")
    request.image_name = name[: NAME_LEN - 1].decode("utf-8", "ignore").encode()


def data(info: abi.CellInfo) -> dict[str, Any]:
    return {"image": text(info.image_name)}


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [("image", f"{found['image']} ({found['boot']})")]


def parse_boot(node: Node, context: Context) -> str | None:
    boot = scalar(node, context, " or ".join(BOOTS), ("str",))
    if boot is not None and boot not in BOOTS:
        context.bad(node, f"`{shown(boot)}` is not a boot protocol", " or ".join(BOOTS))
        return None
    return boot


def pack_boot(cell: CellConfig, request: abi.CellCreate) -> None:
    request.boot = BOOTS[cell.boot]


def boot_data(info: abi.CellInfo) -> dict[str, Any]:
    known = (name for name, value in BOOTS.items() if value == info.boot)
    return {"boot": next(known, str(info.boot))}


IMAGE = Key(
    "image",
    "the kernel that the cell boots",
    "file name",
    "",
    EXAMPLE,
    parse,
    required=True,
    pack=pack,
    data=data,
    show=show,
)
BOOT = Key(
    "boot",
    "how the kernel is loaded",
    "`multiboot2`",
    "`multiboot2`",
    "multiboot2",
    parse_boot,
    pack=pack_boot,
    data=boot_data,
)
