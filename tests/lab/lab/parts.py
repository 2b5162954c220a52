# SPDX-License-Identifier: GPL-2.0-only
"""Parts of `make check-all`: PART=2/10 has the tests whose names hash to it."""

import hashlib
import re
from dataclasses import dataclass

from .errors import LabError


@dataclass(frozen=True)
class Part:
    """Part `number`, from 1, of `of` parts. Each name is in exactly one part, whatever other names
    there are."""

    number: int
    of: int

    def has(self, name: str) -> bool:
        digest = hashlib.sha256(name.encode()).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1


def part_of(text: str) -> Part:
    """Returns the part that a text like `3/8` names."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise LabError(f"PART={text} is no part", "use PART=1/10 to PART=10/10, or leave it out")
    return Part(int(found[1]), int(found[2]))
