# SPDX-License-Identifier: GPL-2.0-only
"""The dialects of OIL: whose attributes a file may use."""

from __future__ import annotations

import functools
from pathlib import Path

from .check import NAMELESS
from .freeosek import is_freeosek
from .parse import parse
from .problems import Place, Problems
from .schema import Schema
from .source import Source
from .tree import Cpu, File

DIALECTS = ("osek", "rtdruid", "goil", "freeosek")
FOLDER = Path(__file__).parent / "implementation"

# Words that only the files of one dialect have: attributes of OS, kinds of objects, names of
# IMPLEMENTATION, includes. The first that occurs decides.
MARKS = {
    "rtdruid": ("CPU_DATA", "MCU_DATA", "BOARD_DATA", "KERNEL_TYPE", "EE_OPT", "APPDATA", "STACK"),
    "goil": (
        "BUILD",
        "TRAMPOLINE_BASE_PATH",
        "MEMMAP",
        "SYSTEM_CALL",
        "trampoline",
        "arch.oil",
        "softwareIT.oil",
        "watchdog.oil",
    ),
}


@functools.cache
def _own(name: str) -> File:
    """Returns the tree of a file of this package, which has no mistakes."""
    source = Source(Problems())
    source.add_file(FOLDER / f"{name}.oil")
    return parse(source)


def schema(dialect: str, problems: Problems) -> Schema:
    """Returns the objects and attributes of a dialect: those of osek.oil and its own."""
    known = Schema(problems, adds=dialect == "goil")
    for name in dict.fromkeys(("osek", dialect)):
        for implementation in _own(name).implementations:
            known.add(implementation, own=True)
    return known


def supplied(dialect: str) -> list[Cpu]:
    """Returns the objects that files of a dialect may name without declaring them."""
    return _own(dialect).cpus


def joins(dialect: str, kind: str) -> bool:
    """Returns whether an object of this kind may have several sections. goil adds the attributes of
    a second section to the first, except for kinds of which there is one object."""
    return dialect == "rtdruid" or dialect == "goil" and kind not in NAMELESS


def guess(file: File, source: Source) -> tuple[str, str, Place | None]:
    """Returns the dialect of a file, the word that decided, and its place."""
    words = {str(part.name.value): part.name.place for part in file.implementations}
    for cpu in file.cpus:
        for found in cpu.objects:
            words.setdefault(str(found.kind.value), found.kind.place)
            for parameter in found.parameters if found.kind.value in ("OS", "TASK") else ():
                words.setdefault(str(parameter.name.value), parameter.name.place)
    if is_freeosek(source.text()):
        return "freeosek", "the section OSEK", None
    for dialect, marks in MARKS.items():
        for mark in marks:
            if mark in words or mark in source.supplied:
                return dialect, mark, words.get(mark)
    return "osek", "", None


def elsewhere(dialect: str, name: str) -> str:
    """Returns another dialect that has the attribute `KIND.NAME` or the kind of object `KIND`, or
    an empty string."""
    kind, _, attribute = name.partition(".")
    for other in DIALECTS:
        known = schema(other, Problems()).kinds.get(kind) if other != dialect else None
        if known and (not attribute or attribute in known.attributes):
            return other
    return ""
