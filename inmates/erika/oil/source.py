# SPDX-License-Identifier: GPL-2.0-only
"""OIL text before its grammar: comments, #include, and where each line came from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from .problems import Place, Problems, shown

SUPPLIED = Path(__file__).parent / "include"
# TOPPERS' own attributes and their defaults. It does not say what the dialect is.
OF_TOPPERS = "implementation.oil"
DEEPEST_BRACE = 32
DEEPEST_INCLUDE = 16
LARGEST = 4 << 20
MOST_FILES = 1000

# The parts of a text that are not plain: a comment, a string, a directive, a brace.
PART = re.compile(
    r"""
    (?P<comment> //[^\n]* | /\*.*?\*/ )
  | (?P<open_comment> /\* )
  | (?P<string> "(?:\\.|[^"\\])*" )
  | (?P<open_string> " )
  | (?P<directive> ^[ \t]*\#[^\n]* )
  | (?P<brace> [{}] )
""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)\s*$')


@dataclass
class Line:
    """A line of the joined text, and where it is in its file."""

    file: str
    number: int
    text: str


@dataclass
class Source:
    """The joined text of a file and its includes, without comments."""

    problems: Problems
    folders: list[Path] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    clean: list[str] = field(default_factory=list)
    supplied: set[str] = field(default_factory=set)
    read: list[Path] = field(default_factory=list)

    def text(self) -> str:
        return "\n".join(self.clean) + "\n"

    def place(self, line: int, column: int) -> Place:
        """Returns the place in its file of a place in the joined text."""
        if not self.lines:
            return Place("-", 1, 1)
        if line > len(self.lines) or line < 1:
            last = self.lines[-1]
            return Place(last.file, last.number, len(last.text) + 1, last.text)
        found = self.lines[line - 1]
        return Place(found.file, found.number, column, found.text)

    def add_file(
        self, path: Path, origin: Place | None = None, above: tuple[Path, ...] = ()
    ) -> None:
        """Reads a file and the files that it includes."""
        origin = origin or Place(str(path), 1, 1)
        try:
            raw = path.read_bytes()
        except OSError as error:
            why = (error.strerror or "error").lower()
            raise self.problems.stop(
                origin, f"{shown(str(path), 200)} cannot be read: {why}"
            ) from None
        except ValueError:
            raise self.problems.stop(origin, "the name of the file has a zero byte") from None
        if len(raw) > LARGEST:
            raise self.problems.stop(
                origin, f"{shown(str(path), 200)} is larger than {LARGEST >> 20} MiB"
            )
        if len(self.read) >= MOST_FILES:
            raise self.problems.stop(origin, f"more than {MOST_FILES} files are included")
        self.read.append(path)
        self.add_text(str(path), raw.decode("utf-8", "replace"), (*above, path))

    def add_text(self, name: str, text: str, above: tuple[Path, ...] = ()) -> None:
        """Adds a text: blanks its comments, reads its includes, and checks strings and braces."""
        text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        originals = text.split("\n")
        clean, includes = self._blanked(name, text, originals)
        for number, (line, original) in enumerate(zip(clean.split("\n"), originals), 1):
            if number in includes:
                self._include(Place(name, number, original.index("#") + 1, original), above)
            self.lines.append(Line(name, number, original))
            self.clean.append("" if number in includes else line)

    def _blanked(self, name: str, text: str, originals: list[str]) -> tuple[str, set[int]]:
        """Returns the text with blanks for comments, and the numbers of lines with a directive."""
        pieces: list[str] = []
        at = depth = 0
        number = 1
        includes: set[int] = set()
        for part in PART.finditer(text):
            pieces.append(text[at : part.start()])
            number += text.count("\n", at, part.start())
            at = part.end()
            column = part.start() - (text.rfind("\n", 0, part.start()) + 1) + 1
            place = Place(name, number, column, originals[number - 1])
            if part.lastgroup == "brace":
                depth += 1 if part[0] == "{" else -1
                if depth > DEEPEST_BRACE:
                    raise self.problems.stop(
                        place, f"braces are nested deeper than {DEEPEST_BRACE}"
                    )
            self._check_part(part, place)
            if part.lastgroup == "directive":
                includes.add(number)
            pieces.append(
                part[0] if part.lastgroup in ("string", "brace") else re.sub(r"[^\n]", " ", part[0])
            )
            number += part[0].count("\n")
        return "".join(pieces) + text[at:], includes

    def _check_part(self, part: re.Match[str], place: Place) -> None:
        if part.lastgroup == "open_comment":
            raise self.problems.stop(place, "the comment that begins here does not end", "*/")
        if part.lastgroup == "open_string":
            raise self.problems.stop(place, "the string that begins here does not end", '"')

    def _include(self, place: Place, above: tuple[Path, ...]) -> None:
        """Reads the file that a line names. An includer's own folder comes first for quotes; the
        files that stand for those of other tools come last."""
        line = re.sub(r"/\*.*?\*/|//.*$", " ", place.text[place.column - 1 :]).rstrip()
        match = INCLUDE.match(line)
        if not match:
            raise self.problems.stop(
                place,
                f"`{shown(line.expandtabs(1))}` is not a directive of OIL",
                '#include "FILE" or #include <FILE>; first run the C preprocessor for others',
            )
        if len(above) > DEEPEST_INCLUDE:
            raise self.problems.stop(
                place, f"files include each other deeper than {DEEPEST_INCLUDE}"
            )
        wanted = match[1] or match[2]
        own = [above[-1].parent] if match[1] and above else []
        for folder in (*own, *self.folders, SUPPLIED):
            path = folder / wanted
            if self._is_file(path):
                if path.resolve() in [file.resolve() for file in above]:
                    raise self.problems.stop(place, f"{shown(wanted)} includes itself")
                if folder == SUPPLIED:
                    self.supplied.add(wanted)
                if folder == SUPPLIED and wanted == OF_TOPPERS:
                    self.problems.note(place, f"{wanted} is not found, so an empty one is supplied")
                self.add_file(path, place, above)
                return
        looked = ", ".join(shown(str(folder), 100) for folder in (*own, *self.folders))
        raise self.problems.stop(
            place,
            f"{shown(wanted, 100)} is not found",
            f"looked in {looked}; -I FOLDER adds one" if looked else "-I FOLDER says where",
        )

    @staticmethod
    def _is_file(path: Path) -> bool:
        try:
            return path.is_file()
        except (OSError, ValueError):
            return False
