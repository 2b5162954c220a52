# SPDX-License-Identifier: GPL-2.0-only
"""
YAML as a tree of nodes, each with its place.

This module reads the usual file of a cell (keys with plain or quoted values, lists, mappings in one
line), because loading PyYAML takes longer than the rest of a command. PyYAML reads all other files,
those with errors included. A test shows that both return the same nodes for files that this module
reads.
"""

from __future__ import annotations

from .record import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass
class Node:
    """`tag`: the YAML type (str, int, float, bool, null, timestamp, seq, map, ...). Lines and
    columns count from 1."""

    tag: str
    value: Any
    line: int
    column: int


class ScalarNode(Node):
    """A node whose value is a text."""


class SequenceNode(Node):
    """A node whose value is a list of nodes."""


class MappingNode(Node):
    """A node whose value is a list of pairs of nodes."""


class Unsure(Exception):
    """This module cannot read the text, but PyYAML may."""


class NotYaml(Exception):
    """The text is not YAML: the place, the problem and its remedy."""

    def __init__(self, line: int, column: int, wrong: str, right: str) -> None:
        super().__init__(wrong)
        self.line, self.column, self.wrong, self.right = line, column, wrong, right


LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
DIGITS = frozenset("0123456789")
HEX = frozenset("0123456789abcdefABCDEF")
FLOW_PLAIN = LETTERS | DIGITS | frozenset("_./+=-")
PLAIN = FLOW_PLAIN | frozenset(" ,()")
KEY = LETTERS | DIGITS | frozenset("_-")
BOOLS = frozenset(form for word in ("yes", "no", "on", "off", "true", "false")
                  for form in (word, word.capitalize(), word.upper()))
NULLS = frozenset(("null", "Null", "NULL"))


def resolve(text: str) -> str:
    """Returns the type of a plain scalar."""
    first, rest = text[0], text[1:]
    if first in LETTERS or first == "/":
        return "bool" if text in BOOLS else "null" if text in NULLS else "str"
    if first not in DIGITS:
        raise Unsure
    if text.startswith("0x"):
        return "int" if len(text) > 2 and HEX.issuperset(text[2:]) else "str"
    if DIGITS.issuperset(rest):
        if first == "0" and rest:
            raise Unsure
        return "int"
    digits = len(text) - len(text.lstrip("0123456789"))
    if LETTERS.issuperset(text[digits:]) and text[digits] not in "bB":
        return "str"
    low, dash, high = text.partition("-")
    if dash and DIGITS.issuperset(low + high):
        return "str"
    raise Unsure


class Reader:
    """Reads one document. Raises Unsure if a part of it is unusual."""

    def __init__(self, text: str) -> None:
        self.text = text + "\n"
        self.at = 0
        self.line = 1
        self.line_start = 0

    def place(self) -> tuple[int, int]:
        return self.line, self.at - self.line_start + 1

    def next_line(self) -> None:
        self.at += 1
        self.line += 1
        self.line_start = self.at

    def spaces(self) -> None:
        while self.text[self.at] == " ":
            self.at += 1

    def end_of_line(self) -> None:
        """Skips blanks and a comment to the next line."""
        before = self.at
        self.spaces()
        if self.text[self.at] == "#" and (self.at > before or self.at == self.line_start):
            self.at = self.text.index("\n", self.at)
        if self.text[self.at] != "\n":
            raise Unsure
        self.next_line()

    def to_content(self) -> int:
        """Skips empty lines. Returns the column of the next content, counted from 0, or -1 at the
        end."""
        while self.at < len(self.text):
            start = self.at
            self.spaces()
            if self.text[self.at] not in "#\n":
                column = self.at - start
                self.at = start
                return column
            self.end_of_line()
        return -1

    def plain(self, allowed: frozenset[str]) -> Node:
        start, begin = self.place(), self.at
        while self.text[self.at] in allowed:
            if self.text[self.at:self.at + 2] == " #":
                break
            self.at += 1
        text = self.text[begin:self.at].rstrip(" ")
        self.at = begin + len(text)
        if not text:
            raise Unsure
        return ScalarNode(resolve(text), text, *start)

    def quoted(self) -> Node:
        start, quote = self.place(), self.text[self.at]
        end = self.text.index(quote, self.at + 1) if quote in self.text[self.at + 1:] else -1
        value = self.text[self.at + 1:end]
        if end < 0 or "\n" in value or "\\" in value or self.text[end + 1] == quote:
            raise Unsure
        self.at = end + 1
        return ScalarNode("str", value, *start)

    def flow_blanks(self) -> None:
        while self.text[self.at] in " \n#":
            if self.text[self.at] == " ":
                self.at += 1
            else:
                self.end_of_line()
                if self.at >= len(self.text):
                    raise Unsure

    def flow(self, allowed: frozenset[str]) -> Node:
        """Reads a value that may begin with a bracket, a brace or a quote."""
        char = self.text[self.at]
        if char == "[":
            return self.flow_list()
        if char == "{":
            return self.flow_mapping()
        return self.quoted() if char in "'\"" else self.plain(allowed)

    def flow_separator(self, end: str) -> None:
        self.flow_blanks()
        if self.text[self.at] == ",":
            self.at += 1
            self.flow_blanks()
        elif self.text[self.at] != end:
            raise Unsure

    def flow_list(self) -> Node:
        start, items = self.place(), []
        self.at += 1
        self.flow_blanks()
        while self.text[self.at] != "]":
            items.append(self.flow(FLOW_PLAIN))
            self.flow_separator("]")
        self.at += 1
        return SequenceNode("seq", items, *start)

    def flow_mapping(self) -> Node:
        start, pairs = self.place(), []
        self.at += 1
        self.flow_blanks()
        while self.text[self.at] != "}":
            key = self.plain(KEY)
            if self.text[self.at:self.at + 2] != ": ":
                raise Unsure
            self.at += 2
            self.flow_blanks()
            pairs.append((key, self.flow(FLOW_PLAIN)))
            self.flow_separator("}")
        self.at += 1
        return MappingNode("map", pairs, *start)

    def value(self) -> Node:
        """Reads the value after the colon of a key."""
        start = self.place()
        before = self.at
        self.spaces()
        if self.text[self.at] not in "#\n":
            if self.at == before:
                raise Unsure
            node = self.flow(PLAIN)
            self.end_of_line()
            return node
        self.end_of_line()
        column = self.to_content()
        if column < 0 or self.text[self.at + column] in KEY and self.text[self.at + column] != "-" and column == 0:
            return ScalarNode("null", "", *start)
        return self.block_list(column)

    def block_list(self, column: int) -> Node:
        items: list[Node] = []
        start = self.line, column + 1
        while self.to_content() == column and self.text[self.at + column:self.at + column + 2] == "- ":
            self.at += column + 2
            self.spaces()
            items.append(self.flow(PLAIN))
            self.end_of_line()
        if not items:
            raise Unsure
        return SequenceNode("seq", items, *start)

    def document(self) -> Node:
        pairs: list[tuple[Node, Node]] = []
        if not self.text.isascii() or not self.text.replace("\n", "").isprintable():
            raise Unsure
        column = self.to_content()
        start = self.place()
        while column == 0:
            key = self.plain(KEY)
            if self.text[self.at] != ":" or self.at == len(self.text) - 1:
                raise Unsure
            self.at += 1
            pairs.append((key, self.value()))
            column = self.to_content()
        if column > 0 or not pairs:
            raise Unsure
        return MappingNode("map", pairs, *start)


def quick(text: str) -> Node:
    return Reader(text).document()


def compose(text: str) -> Node | None:
    """Returns the only document of `text`, or None if it is empty. Raises NotYaml, and
    RecursionError for absurd nesting."""
    try:
        return quick(text)
    except Unsure:
        from . import anyyaml

        return anyyaml.compose(text)
