# SPDX-License-Identifier: GPL-2.0-only
"""The mark that the process of a unit leaves in /run/qv: of which files it made the cell."""

from __future__ import annotations

import hashlib
import os

from .errors import Refused
from .words import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import abi
    from .files import Files
    from .keys import CellConfig

FOLDER = "run/qv"
# the mark of a unit's process, and that of `qvctl cell apply`
OF_UNIT, APPLIED = KINDS = ("cell", "applied")


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


def facts_of(info: abi.CellInfo) -> str:
    """Returns facts that tell a cell from another of its name. The id is no such fact: a cell that
    starts again may get another."""
    cpus = ",".join(map(str, info.cpus[: info.num_cpus]))
    return f"{cpus} {info.memory} {text(info.image_name)} {text(info.cmdline)}"


def place(folder: str, name: str, kind: str = OF_UNIT) -> str:
    return os.path.join(folder, f"{name}.{kind}")


def read(path: str, needed: bool = False) -> Mark | None:
    """Returns what write() has written, or None. With `needed`, a mark that this user may not read
    is refused."""
    try:
        with open(path, encoding="utf-8") as stream:
            digested, facts, failures, *_ = [*stream.read().split("\n"), "", ""]
        return Mark(digested, facts, int(failures or "0"))
    except PermissionError:
        if needed:
            raise unreadable(path) from None
        return None
    except (OSError, ValueError):
        return None


def unreadable(path: str) -> Refused:
    """Returns the refusal of a file that may exist, so that it is not taken for absent."""
    return Refused(f"{path} cannot be read (permission denied)", "run it as root")


def write(path: str, mark: Mark) -> None:
    """Only root may read it: the facts have the command line of the cell."""
    with open(path, "w", encoding="utf-8", opener=_private) as stream:
        stream.write(f"{mark.digest}\n{mark.facts}\n{mark.failures}")


def forget(folder: str, name: str, kind: str) -> None:
    """A mark that stayed would be taken for that of the next cell of this name."""
    try:
        os.unlink(place(folder, name, kind))
    except OSError:
        pass  # there is no mark
