# SPDX-License-Identifier: GPL-2.0-only
"""`debug`: whether Linux may read the cell's registers while it runs, and its memory afterwards."""

from __future__ import annotations

from .key import Key, truth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .. import abi
    from . import CellConfig


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.debug = int(cell.debug)


def data(info: abi.CellInfo) -> dict[str, Any]:
    return {"debug": bool(info.debug)}


KEY = Key(
    "debug",
    "whether Linux may read its registers while it runs, and its memory when it has ended",
    "`true` or `false`",
    "`false`",
    "true or false",
    truth,
    pack=pack,
    data=data,
)
