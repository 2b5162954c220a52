# SPDX-License-Identifier: GPL-2.0-only
"""The drop-in of a cell's unit, made from the cell's file. `qvctl cell enable` writes it, and
`qvctl config check` compares it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .keys import CellConfig

CELLS = "etc/qv/cells"
UNITS = "etc/systemd/system"


def unit(name: str) -> str:
    return f"qv-cell@{name}.service"


def file_of(root: str, name: str) -> str:
    """Returns the cell's file that its unit reads."""
    return os.path.join(root, CELLS, f"{name}.yaml")


def place(root: str, name: str) -> str:
    return os.path.join(root, UNITS, f"{unit(name)}.d", "50-qv-file.conf")


def wanted(cell: CellConfig) -> str:
    """Returns the drop-in for a cell; empty if it needs none."""
    lines = [f"{word}={' '.join(unit(name) for name in names)}\n"
             for word, names in (("Requires", cell.requires), ("After", cell.before())) if names]
    if not lines:
        return ""
    return f"# Written by `qvctl cell enable {cell.name}`, from after: and requires: in the cell's file\n[Unit]\n{''.join(lines)}"


def present(root: str, name: str) -> str:
    try:
        with open(place(root, name), encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def write(root: str, cell: CellConfig) -> bool:
    """Makes the drop-in as the file says. Returns true if it has changed. It is written aside and
    renamed, so systemd never reads half of it."""
    text, path = wanted(cell), place(root, cell.name)
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
