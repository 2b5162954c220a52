# SPDX-License-Identifier: GPL-2.0-only
"""From text to tree, by the grammar in oil.lark."""

from __future__ import annotations

import functools
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from .freeosek import as_oil
from .problems import Problems, shown
from .source import Source
from .tree import (
    Choice,
    Cpu,
    Definition,
    File,
    Implementation,
    Object,
    Parameter,
    Plain,
    Specification,
    Word,
)

# The terminals of the grammar in words
TERMINALS = {
    "NAME": "a name",
    "STRING": "a string",
    "NUMBER": "a number",
    "FLOAT": "a number",
    "SEMICOLON": "`;`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "EQUAL": "`=`",
    "COLON": "`:`",
    "COMMA": "`,`",
    "__ANON_0": "`..`",
    "WITH_AUTO": "`WITH_AUTO`",
    "OIL_VERSION": "`OIL_VERSION`",
    "IMPLEMENTATION": "`IMPLEMENTATION`",
    "CPU": "`CPU`",
    "$END": "the end of the file",
}
# The usual order of these words in a message
ORDER = list(TERMINALS.values())
LONGEST_NUMBER = 24


class Description(str):
    """The text after a colon."""


class Multiple:
    """`[]`"""


class Auto:
    """`WITH_AUTO`"""


class Default:
    def __init__(self, word: Word) -> None:
        self.word = word


class Parts:
    """The children of a rule, by their type."""

    def __init__(self, children: list[Any]) -> None:
        self.children = children

    def all(self, kind: type[Any]) -> tuple[Any, ...]:
        return tuple(child for child in self.children if isinstance(child, kind))

    def first(self, kind: type[Any]) -> Any:
        return next(iter(self.all(kind)), None)

    def description(self) -> str:
        return str(self.first(Description) or "")


class Build(Transformer[Token, File]):
    """Turns the rules of the grammar into the classes of tree.py, while the text is parsed."""

    def __init__(self) -> None:
        super().__init__()
        self.begin(Source(Problems()))

    def begin(self, source: Source) -> None:
        """Forgets the file before."""
        self.source = source
        self.file = File()

    def word(self, token: Token, kind: str, value: Plain) -> Word:
        return Word(self.source.place(token.line or 1, token.column or 1), kind, value)

    def NAME(self, token: Token) -> Word:
        return self.word(token, "name", str(token))

    def STRING(self, token: Token) -> Word:
        body = str(token)[1:-1].replace("\\\n", "").replace('\\"', '"').replace("\\\\", "\\")
        return self.word(token, "string", body)

    def NUMBER(self, token: Token) -> Word:
        if len(token) > LONGEST_NUMBER:
            raise self.source.problems.stop(
                self.source.place(token.line or 1, token.column or 1),
                f"the number {shown(token, 20)} is too long",
                f"at most {LONGEST_NUMBER} characters",
            )
        digits = token.lstrip("+-")
        number = int(digits, 16) if digits[:2] in ("0x", "0X") else int(digits, 10)
        return self.word(token, "number", -number if token[0] == "-" else number)

    def FLOAT(self, token: Token) -> Word:
        number = float(token)
        if math.isinf(number):
            raise self.source.problems.stop(
                self.source.place(token.line or 1, token.column or 1),
                f"the number {shown(token, 20)} is too large",
                "at most 1.7e308",
            )
        return self.word(token, "float", number)

    def number(self, children: list[Any]) -> Word:
        return children[0]  # type: ignore[no-any-return]

    value = number

    def description(self, children: list[Any]) -> Description:
        return Description(children[0].value)

    def with_auto(self, _children: list[Any]) -> Auto:
        return Auto()

    def multiple(self, _children: list[Any]) -> Multiple:
        return Multiple()

    def default(self, children: list[Any]) -> Default:
        return Default(children[0])

    def range(self, children: list[Any]) -> tuple[Word, Word]:
        return children[0], children[1]

    def choices(self, children: list[Any]) -> list[Any]:
        return children

    def definitions(self, children: list[Any]) -> tuple[Definition, ...]:
        return tuple(children)

    def choice(self, children: list[Any]) -> Choice:
        parts = Parts(children)
        return Choice(children[0], parts.first(tuple) or (), parts.description())

    def definition(self, children: list[Any]) -> Definition:
        parts = Parts(children)
        kind, name = parts.all(Word)
        allowed = parts.first(list) or []
        limits: Any = next((part for part in allowed if isinstance(part, tuple)), None)
        default = parts.first(Default)
        return Definition(
            kind,
            name,
            bool(parts.all(Auto)),
            () if limits else tuple(allowed),
            limits,
            parts.first(tuple),
            bool(parts.all(Multiple)),
            default.word if default else None,
            parts.description(),
        )

    def specification(self, children: list[Any]) -> Specification:
        parts = Parts(children)
        return Specification(children[0], parts.all(Definition), parts.description())

    def parameters(self, children: list[Any]) -> tuple[Parameter, ...]:
        return tuple(children)

    def parameter(self, children: list[Any]) -> Parameter:
        if isinstance(children[1], Parameter):
            return replace(children[1], name=children[0])
        inside = Parts(children).first(tuple)
        return Parameter(children[0], children[1], inside or (), inside is not None)

    def struct(self, children: list[Any]) -> Parameter:
        return Parameter(children[0], children[0], children[1], True, True)

    def object(self, children: list[Any]) -> Object:
        return Object(children[0], children[1], Parts(children).first(tuple) or ())

    def version(self, children: list[Any]) -> None:
        self.file.versions.append(children[1])

    def implementation(self, children: list[Any]) -> None:
        self.file.implementations.append(
            Implementation(children[1], Parts(children).all(Specification))
        )

    def cpu(self, children: list[Any]) -> None:
        self.file.cpus.append(Cpu(children[1], Parts(children).all(Object)))

    def start(self, _children: list[Any]) -> File:
        return self.file


@functools.cache
def parser() -> tuple[Lark, Build]:
    """Returns the parser, which is made once, and the builder of its trees."""
    builder = Build()
    grammar = (Path(__file__).parent / "oil.lark").read_text()
    return Lark(grammar, parser="lalr", transformer=builder, maybe_placeholders=False), builder


def parse(source: Source) -> File:
    """Returns the tree. Raises Stop at the first place where the text is not OIL."""
    made, builder = parser()
    builder.begin(source)
    try:
        made.parse(as_oil(source.text()))
    except UnexpectedCharacters as error:
        _unexpected_character(source, error)
    except UnexpectedToken as error:
        _unexpected_token(source, error)
    return builder.file


def _expected(names: set[str]) -> str:
    words = sorted({TERMINALS.get(name, name) for name in names}, key=ORDER.index)
    return " or ".join(words) + " is expected"


def _unexpected_character(source: Source, error: UnexpectedCharacters) -> None:
    place = source.place(error.line, error.column)
    word = re.match(r"\w+|.", source.clean[error.line - 1][error.column - 1 :], re.DOTALL)
    raise source.problems.stop(
        place,
        f"`{shown(word[0] if word else error.char)}` is not expected here",
        _expected(set(error.allowed or ()) & set(TERMINALS)),
    ) from None


def _unexpected_token(source: Source, error: UnexpectedToken) -> None:
    token, expected = error.token, set(error.expected) & set(TERMINALS)
    if token.type == "$END":
        last = max((n for n, line in enumerate(source.clean, 1) if line.strip()), default=1)
        place = source.place(last, len(source.clean[last - 1].rstrip()) + 1 if source.clean else 1)
        raise source.problems.stop(place, "the file ends too early", _expected(expected)) from None
    place = source.place(token.line or 1, token.column or 1)
    if expected == {"SEMICOLON"} or ("SEMICOLON" in expected and token.type in ("NAME", "RBRACE")):
        raise source.problems.stop(place, f"a `;` is missing before `{shown(token)}`") from None
    raise source.problems.stop(
        place, f"`{shown(token)}` is not expected here", _expected(expected)
    ) from None


def parse_text(name: str, text: str, problems: Problems) -> File:
    """Parses a text without includes."""
    source = Source(problems)
    source.add_text(name, text)
    return parse(source)
