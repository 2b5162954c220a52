# SPDX-License-Identifier: GPL-2.0-only
"""An OIL file as it is written: sections, objects, parameters, each with its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from .problems import Place

Plain = Union[int, float, str]


@dataclass(frozen=True)
class Word:
    """A name, a string or a number. `kind` is name, string, number or float."""

    place: Place
    kind: str
    value: Plain

    def text(self) -> str:
        """Returns the word in the form that OIL files have."""
        return f'"{self.value}"' if self.kind == "string" else str(self.value)


@dataclass(frozen=True)
class Parameter:
    """`NAME = VALUE { more };`, or `NAME WORD { more };` if `struct`"""

    name: Word
    value: Word
    inside: tuple[Parameter, ...] = ()
    braces: bool = False
    struct: bool = False


@dataclass(frozen=True)
class Object:
    """`TASK name { parameters };`"""

    kind: Word
    name: Word
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Choice:
    """One value of an ENUM, of a BOOLEAN or of a list of numbers, with its nested definitions."""

    word: Word
    definitions: tuple[Definition, ...] = ()
    description: str = ""


@dataclass(frozen=True)
class Definition:
    """`TYPE WITH_AUTO [range] NAME[] = default : "description";`, or `STRUCT { fields } NAME[]`"""

    type: Word
    name: Word
    with_auto: bool = False
    choices: tuple[Choice, ...] = ()
    range: tuple[Word, Word] | None = None
    fields: tuple[Definition, ...] | None = None
    multiple: bool = False
    default: Word | None = None
    description: str = ""


@dataclass(frozen=True)
class Specification:
    """The definitions for one kind of object."""

    kind: Word
    definitions: tuple[Definition, ...]
    description: str = ""


@dataclass(frozen=True)
class Implementation:
    name: Word
    specifications: tuple[Specification, ...]


@dataclass(frozen=True)
class Cpu:
    name: Word
    objects: tuple[Object, ...]


@dataclass
class File:
    """The sections of a file and its includes, in their order."""

    versions: list[Word] = field(default_factory=list)
    implementations: list[Implementation] = field(default_factory=list)
    cpus: list[Cpu] = field(default_factory=list)
