# SPDX-License-Identifier: GPL-2.0-only
"""The files of a cell: the image and the modules, as the driver gets them."""

from __future__ import annotations

import hashlib

from .errors import Refused
from .record import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .keys import CellConfig


@dataclass
class Files:
    """Contents of the files. The modules are in the order of the cell's file."""

    image: bytes
    modules: list[bytes]

    def digest(self) -> bytes:
        """Returns a hash that changes if a file changes."""
        found = hashlib.sha256()
        for contents in (self.image, *self.modules):
            found.update(hashlib.sha256(contents).digest())
        return found.digest()


def read(cell: CellConfig) -> Files:
    return Files(
        _read("image", cell.image),
        [
            _read("module", module.path) if module.contents is None else module.contents
            for module in cell.all_modules()
        ],
    )


def _read(what: str, path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise Refused(
            f"the {what} {path} cannot be read ({(error.strerror or 'error').lower()})",
            "see that the file is there and readable",
        ) from None
