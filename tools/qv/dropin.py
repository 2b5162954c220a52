# SPDX-License-Identifier: GPL-2.0-only
"""The drop-in of a cell's unit, made from the cell's file. `qvctl cell enable` writes it, and
`qvctl config check` compares it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .keys import CellConfig

CELLS = "etc/qv/cells"
UNITS = "etc/systemd/system"


def unit(name: str) -> str:
    return f"qv-cell@{name}.service"


def file_of(root: str, name: str) -> str:
    """Returns the cell's file that its unit reads."""
    return os.path.join(root, CELLS, f"{name}.yaml")


def names(root: str) -> list[str]:
    """Returns the names of the cells that have a file for a unit."""
    try:
        files = os.listdir(os.path.join(root, CELLS))
    except OSError:
        return []
    return sorted(file.removesuffix(".yaml") for file in files if file.endswith(".yaml"))


def place(root: str, name: str) -> str:
    return os.path.join(root, UNITS, f"{unit(name)}.d", "50-qv-file.conf")


def wanted(cell: CellConfig, writers: Sequence[str]) -> str:
    """Returns the drop-in for a cell; empty if it needs none. `writers` are the cells that start
    before it because of its channels or devices. Wants= and PartOf= do what Requires= does, except
    that the unit's process runs and says why, if a required unit has failed."""
    lines = [
        f"{word}={' '.join(unit(name) for name in names)}\n"
        for word, names in (
            ("Wants", cell.requires),
            ("PartOf", cell.requires),
            ("After", [*cell.before(), *writers]),
        )
        if names
    ]
    if not lines:
        return ""
    keys = "after:, requires:, channels: and devices:" if writers else "after: and requires:"
    origin = f"Written by `qvctl cell enable {cell.name}`, from {keys} in the cell's file"
    return f"# {origin}\n[Unit]\n{''.join(lines)}"


def present(root: str, name: str) -> str:
    try:
        with open(place(root, name), encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def is_enabled(root: str, name: str) -> bool:
    return os.path.lexists(os.path.join(root, UNITS, "multi-user.target.wants", unit(name)))


def write(root: str, cell: CellConfig, writers: Sequence[str]) -> bool:
    """Makes the drop-in as the file says. Returns true if it has changed. It is written aside and
    renamed, so systemd never reads half of it."""
    text, path = wanted(cell, writers), place(root, cell.name)
    if text == present(root, cell.name):
        return False
    if not text:
        return remove(root, cell.name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"{path}.new", "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    os.rename(f"{path}.new", path)
    return True


def remove(root: str, name: str) -> bool:
    path = place(root, name)
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    try:
        os.rmdir(os.path.dirname(path))
    except OSError:
        pass  # it holds drop-ins of a person
    return True
