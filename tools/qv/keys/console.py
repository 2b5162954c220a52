# SPDX-License-Identifier: GPL-2.0-only
"""`console`: whether the cell has a screen and a keyboard."""

from __future__ import annotations

from .key import Key, truth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .. import abi
    from . import CellConfig


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.console = int(cell.console)


def data(info: abi.CellInfo) -> dict[str, Any]:
    return {"console": bool(info.console)}


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [("console", f"/dev/qv-cell/{found['name']}/console" if found["console"] else "none")]


KEY = Key(
    "console",
    "whether the cell has a screen and a keyboard (see [quesh.md](quesh.md))",
    "`true` or `false`",
    "`true`",
    "true or false",
    truth,
    pack=pack,
    data=data,
    show=show,
)
