# SPDX-License-Identifier: GPL-2.0-only
"""Files for several processors: ERIKA's CPU_ID and the ID in CPU_DATA, FreeOSEK's CORE, goil's
NUMBER_OF_CORES. This kernel runs on one CPU, so a file with objects on a second one is refused."""

from __future__ import annotations

from collections.abc import Iterator

from .problems import Problems, shown
from .tree import Cpu, Object, Word

# The attribute of an object that names its processor, in each dialect
NAMES = {"rtdruid": "CPU_ID", "freeosek": "CORE"}
WHY = "but this kernel runs on one CPU"


def check_one(cpus: list[Cpu], dialect: str, problems: Problems) -> None:
    """Reports the first object that is on another processor than the objects before it."""
    objects = [part for cpu in cpus for part in cpu.objects]
    first: Word | None = None
    for part in objects:
        for name, word in _processors(part, dialect):
            first = first or word
            if str(word.value) != str(first.value):
                problems.error(
                    word.place,
                    f"{_owner(part)}: {name} is {shown(word.text())}, a second processor, {WHY}",
                    f"the first is {shown(first.text())} in line {first.place.line}",
                )
                return
    for part in objects if dialect == "goil" else ():
        for one in part.parameters:
            if one.name.value == "NUMBER_OF_CORES" and one.value.value != 1:
                problems.error(
                    one.value.place,
                    f"{_owner(part)}: NUMBER_OF_CORES is {shown(one.value.text())}, {WHY}",
                )


def _owner(part: Object) -> str:
    return f"{part.kind.value} {shown(str(part.name.value))}"


def _processors(part: Object, dialect: str) -> Iterator[tuple[str, Word]]:
    """Yields the attributes that name a processor, and their values."""
    for one in part.parameters if dialect in NAMES else ():
        if one.name.value == NAMES[dialect]:
            yield NAMES[dialect], one.value
        for below in one.inside if one.name.value == "CPU_DATA" else ():
            if below.name.value == "ID":
                yield "ID in CPU_DATA", below.value
