# SPDX-License-Identifier: GPL-2.0-only
"""The order of cells: the writers of a cell's channels start before it, and so do the cells that
have the PCI functions for which it waits."""

from __future__ import annotations

from . import config, dropin
from .keys.channels import LINUX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .keys import CellConfig
    from .machine import Machine


def _direct(cell: CellConfig) -> list[str]:
    """Returns the other cells that write a channel of this cell which it only reads, and those that
    have a PCI function for which it waits."""
    found = [
        name
        for channel in cell.channels
        if cell.name not in channel.ends[: channel.writers]
        for name in channel.ends[: channel.writers]
        if name not in (cell.name, LINUX)
    ]
    found += [one.heir_of for one in cell.devices if one.heir_of not in ("", cell.name)]
    return list(dict.fromkeys(found))


def described(root: str, machine: Machine) -> dict[str, CellConfig]:
    """Returns the cells that have a file for a unit. A wrong file counts as far as it is right."""
    cells = [
        (name, config.check_file(dropin.file_of(root, name), machine)[0])
        for name in dropin.names(root)
    ]
    return {name: cell for name, cell in cells if name == cell.name}


def writers(cell: CellConfig, cells: dict[str, CellConfig]) -> list[str]:
    """Returns the described cells that start before this one because of a channel or of a PCI
    function. A cell that itself waits for this cell is left out: no two units wait for each other.
    """
    every = {**cells, cell.name: cell}

    def waits(start: str) -> set[str]:
        seen: set[str] = set()
        ahead = [start]
        while ahead:
            one = every.get(ahead.pop())
            news = {*one.before(), *_direct(one)} - seen if one else set()
            seen |= news
            ahead += news
        return seen

    return [
        name
        for name in _direct(cell)
        if name in every and name not in cell.before() and cell.name not in waits(name)
    ]
