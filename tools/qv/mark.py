# SPDX-License-Identifier: GPL-2.0-only
"""The mark that the process of a unit leaves in /run/qv: of which files it made the cell."""

from __future__ import annotations

import hashlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .files import Files
    from .keys import CellConfig

FOLDER = "run/qv"


class Mark:
    """`facts` tell the cell from another of its name; empty if the process was killed in
    between."""

    def __init__(self, digest: str, facts: str, failures: int) -> None:
        self.digest, self.facts, self.failures = digest, facts, failures


def digest(cell: CellConfig, files: Files) -> str:
    """Returns the hash of all that the driver gets to create a cell."""
    found = hashlib.sha256(bytes(cell.request()))
    found.update(files.digest())
    return found.hexdigest()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def place(folder: str, name: str) -> str:
    return os.path.join(folder, f"{name}.cell")


def read(path: str) -> Mark | None:
    """Returns what write() has written, or None."""
    try:
        with open(path, encoding="utf-8") as stream:
            digested, facts, failures, *_ = [*stream.read().split("\n"), "", ""]
        return Mark(digested, facts, int(failures or "0"))
    except (OSError, ValueError):
        return None


def write(path: str, mark: Mark) -> None:
    """Only root may read it: the facts have the command line of the cell."""
    with open(path, "w", encoding="utf-8", opener=_private) as stream:
        stream.write(f"{mark.digest}\n{mark.facts}\n{mark.failures}")
