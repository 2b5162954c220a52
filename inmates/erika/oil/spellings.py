# SPDX-License-Identifier: GPL-2.0-only
"""Attributes that a dialect spells in another way than OIL 2.5, and objects that its tools supply.
They are rewritten before the check, so that all later steps know one spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from .problems import Problems
from .tree import Cpu, File, Object, Parameter, Word

# dialect: kind of object: name of an attribute: its name in OIL 2.5
RENAMED = {
    "goil": {
        "MESSAGE": {"COMCALLBACKNAME": "CALLBACKROUTINENAME"},
        "TASK": {"TIMINGPROTECTION": "TIMING_PROTECTION"},
        "ISR": {"TIMINGPROTECTION": "TIMING_PROTECTION"},
    },
    "freeosek": {"TASK": {"STACK": "STACKSIZE"}, "ALARM": {"CALLBACK": "ALARMCALLBACKNAME"}},
    "rtdruid": {
        "SCHEDULETABLE": {
            "DURATION": "LENGTH",
            "REPEATING": "PERIODIC",
            "EXPIRE_POINT": "EXPIRY_POINT",
            "EXPIRE_VALUE": "OFFSET",
            "SYNC_ADJUSTMENT": "ADJUSTABLE",
        }
    },
}
# AUTOSTART = TRUE { TYPE = ABSOLUTE; START_VALUE = 5; } is AUTOSTART = ABSOLUTE { START = 5; }
STARTS = {"ABSOLUTE": "START", "RELATIVE": "OFFSET"}
# goil's INITIALVALUE = "0" is a number in a string
NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]{0,19}|0[xX][0-9A-Fa-f]{1,16})")
TABLE = "SCHEDULETABLE"


def rewritten(file: File, dialect: str, supplied: list[Cpu], problems: Problems) -> list[Cpu]:
    """Returns the CPU sections in the spelling of OIL 2.5. Objects in `supplied` that no section
    has, but a parameter names, are added."""
    names = RENAMED.get(dialect, {})
    found = [
        replace(
            cpu,
            objects=tuple(
                _object(part, names[str(part.kind.value)], problems)
                if part.kind.value in names
                else part
                for part in cpu.objects
            ),
        )
        for cpu in file.cpus
    ]
    missing = tuple(_missing(found, supplied))
    for part in missing:
        problems.note(
            found[0].name.place,
            f"{part.kind.value} {part.name.value} is not declared, so it is supplied",
        )
    return [replace(found[0], objects=(*found[0].objects, *missing)), *found[1:]]


def _object(part: Object, names: dict[str, str], problems: Problems) -> Object:
    return replace(
        part, parameters=tuple(_parameter(one, names, problems) for one in part.parameters)
    )


def _parameter(one: Parameter, names: dict[str, str], problems: Problems) -> Parameter:
    right = names.get(str(one.name.value), "")
    inside = tuple(_parameter(below, names, problems) for below in one.inside)
    one = replace(one, inside=inside)
    if right:
        one = replace(one, name=replace(one.name, value=right), struct=right == "EXPIRY_POINT")
    if "EXPIRE_POINT" in names and one.name.value == "AUTOSTART" and one.value.value == "TRUE":
        return _autostart(one, problems)
    if one.name.value == "ACTION" and one.value.value == "INCREMENT":  # in FreeOSEK
        return replace(one, value=replace(one.value, value="INCREMENTCOUNTER"))
    if one.name.value == "INITIALVALUE":
        return replace(one, value=_number(one.value))
    return one


def _number(word: Word) -> Word:
    """Returns the number in a string such as "0"; other words as they are."""
    if word.kind != "string" or not NUMBER.fullmatch(str(word.value)):
        return word
    return replace(word, kind="number", value=int(str(word.value), 0))


def _autostart(one: Parameter, problems: Problems) -> Parameter:
    kind = next((below.value for below in one.inside if below.name.value == "TYPE"), None)
    if kind is None:
        problems.error(
            one.value.place,
            "SCHEDULETABLE: AUTOSTART = TRUE has no TYPE",
            "TYPE = ABSOLUTE; or TYPE = RELATIVE; and START_VALUE",
        )
        return replace(one, value=Word(one.value.place, "name", "NONE"), inside=())
    start = STARTS.get(str(kind.value), "START")
    inside = tuple(
        replace(below, name=replace(below.name, value=start))
        if below.name.value == "START_VALUE"
        else below
        for below in one.inside
        if below.name.value != "TYPE"
    )
    return replace(one, value=kind, inside=inside)


def _words(parameters: tuple[Parameter, ...]) -> Iterator[tuple[str, str]]:
    """Yields each attribute with its value."""
    for one in parameters:
        yield str(one.name.value), str(one.value.value)
        yield from _words(one.inside)


def _missing(cpus: list[Cpu], supplied: list[Cpu]) -> Iterator[Object]:
    parts = [part for cpu in cpus for part in cpu.objects]
    declared = {str(part.name.value) for part in parts}
    named = {pair for part in parts for pair in _words(part.parameters)}
    for cpu in supplied:
        for part in cpu.objects:
            name = str(part.name.value)
            if name not in declared and (str(part.kind.value), name) in named:
                yield part
