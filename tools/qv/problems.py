# SPDX-License-Identifier: GPL-2.0-only
"""Problems found in a configuration, and where."""

from __future__ import annotations


from .record import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .nodes import Node


@dataclass(frozen=True, order=True)
class Place:
    """A place in a YAML file; lines and columns count from 1."""

    line: int
    column: int

    @staticmethod
    def of(node: Node) -> Place:
        return Place(node.line, node.column)


@dataclass(frozen=True, order=True)
class Problem:
    """Formats as `FILE:LINE:COL: key: what is wrong (what would be right)`."""

    file: str
    place: Place
    key: str
    wrong: str
    right: str

    def data(self) -> dict[str, object]:
        return {
            "file": self.file,
            "line": self.place.line,
            "column": self.place.column,
            "key": self.key,
            "wrong": self.wrong,
            "right": self.right,
        }

    def __str__(self) -> str:
        return (
            f"{self.file}:{self.place.line}:{self.place.column}: "
            f"{self.key}: {self.wrong} ({self.right})"
        )


@dataclass
class Problems:
    """Collects the problems of one file."""

    file: str
    found: list[Problem] = field(default_factory=list)

    def add(self, where: Node | Place, key: str, wrong: str, right: str) -> None:
        place = where if isinstance(where, Place) else Place.of(where)
        self.found.append(Problem(self.file, place, key, wrong, right))
