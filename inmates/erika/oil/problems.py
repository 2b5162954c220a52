# SPDX-License-Identifier: GPL-2.0-only
"""Places in OIL files, and the problems there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field

MOST_ERRORS = 50
WIDEST = 200  # characters of a line that are shown


@dataclass(frozen=True)
class Place:
    """A place in a file. Lines and columns count from 1; a tab is one column. `text` is its
    line."""

    file: str
    line: int
    column: int
    text: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        return f"{shown(self.file, 400)}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Problem:
    """An error, a warning or a note. `right` says what would be right; it may be empty."""

    place: Place
    level: str
    wrong: str
    right: str = ""

    def sentence(self) -> str:
        level = "" if self.level == "error" else f"{self.level}: "
        return f"{self.place}: {level}{self.wrong}" + (f" ({self.right})" if self.right else "")

    def __str__(self) -> str:
        """Returns the sentence and, for errors, the line of the file with a caret under the
        place."""
        if self.level != "error" or not self.place.text.strip():
            return self.sentence()
        first = max(self.place.column - 1 - WIDEST // 2, 0) if self.place.column > WIDEST else 0
        before = self.place.text[first : self.place.column - 1]
        blanks = "".join("\t" if c == "\t" else " " for c in before)
        line = "".join(c if c == "\t" or c.isprintable() else "?" for c in self.place.text)
        return f"{self.sentence()}\n    {line[first : first + WIDEST]}\n    {blanks}^"


class Stop(Exception):
    """The file is so wrong that nothing more can be said about it. Problems holds the reason."""


@dataclass
class Problems:
    """Collects what is wrong in one run."""

    found: list[Problem] = field(default_factory=list)
    _said: set[str] = field(default_factory=set)

    def error(self, place: Place, wrong: str, right: str = "") -> None:
        """Adds an error. A second error with the same sentence at the same place is dropped."""
        problem = Problem(place, "error", wrong, right)
        if problem not in self.found:
            self.found.append(problem)
        if len(self.errors()) >= MOST_ERRORS:
            raise Stop

    def stop(self, place: Place, wrong: str, right: str = "") -> Stop:
        """Adds an error and returns the exception to raise."""
        self.error(place, wrong, right)
        return Stop()

    def warn_once(self, key: str, place: Place, wrong: str) -> None:
        """Adds a warning, unless the key has one already."""
        if key not in self._said:
            self._said.add(key)
            self.found.append(Problem(place, "warning", wrong))

    def warn_of_ignored(self, kind: str, names: dict[str, Place], reason: str) -> None:
        """Adds a warning of attributes without effect, except those that have one already."""
        new = [name for name in names if f"{kind}.{name}" not in self._said]
        self._said.update(f"{kind}.{name}" for name in new)
        if new:
            listed = " and ".join(filter(None, (", ".join(new[:-1]), new[-1])))
            effect = "have no effect" if len(new) > 1 else "has no effect"
            wrong = f"{kind}: {listed} {effect}: {reason}"
            self.found.append(Problem(names[new[0]], "warning", wrong))

    def note(self, place: Place, text: str) -> None:
        self.found.append(Problem(place, "note", text))

    def errors(self) -> list[Problem]:
        return [problem for problem in self.found if problem.level == "error"]


def shown(text: str, limit: int = 40) -> str:
    """Returns text of a file, made safe to print in a line."""
    safe = "".join(c if c.isprintable() else "?" for c in text)
    return safe if len(safe) <= limit else safe[:limit] + "..."


def perhaps(word: str, known: Iterable[str], limit: int = 12) -> str:
    """Returns a remedy for an unknown word: the nearest known one, or all of them."""
    known = list(dict.fromkeys(known))
    folded = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word[:80].lower(), folded, n=1, cutoff=0.7)
    if near:
        return f"perhaps {folded[near[0]]}"
    if not known:
        return ""
    rest = f", and {len(known) - limit} more" if len(known) > limit else ""
    return ("one of " if len(known) > 1 else "only ") + ", ".join(known[:limit]) + rest
