# SPDX-License-Identifier: GPL-2.0-only
"""qvoil link-check: whether the object files have the functions that an OIL file asks for, and
which names they share with the libraries. It runs before the linker, which knows neither the OIL
file nor the macros."""

from __future__ import annotations

import re
from pathlib import Path

from .model import Function
from .objects import Object, read
from .problems import Place, Problems, perhaps, shown

# The macros of functions: the begin of their symbols (include/erika/conf.h)
SYMBOLS = {
    "TASK": "os_task_entry_",
    "ISR": "os_isr_entry_",
    "ALARMCALLBACK": "os_alarm_entry_",
    "COMCallback": "os_com_entry_",
    "": "",
}
# How a source file may spell the macros
SPELLINGS = {"ISR": "ISR[12]?", "COMCallback": "COMCallback|COMCALLBACK"}
# The begin of the new names of symbols that the libraries have, too
OWN = "own_"


def symbol(function: Function) -> str:
    return SYMBOLS[function.word] + function.name


def read_all(paths: list[Path]) -> list[Object]:
    """Returns the object files; none if one is no plain object file: the linker may know more."""
    objects = [read(path) for path in paths]
    known = [found for found in objects if found]
    return known if len(known) == len(objects) else []


def renamed(known: list[Object], library: set[str]) -> str:
    """Returns new names for the symbols of the application that the libraries have, too, as objcopy
    reads them. The application then uses its own ones, and the libraries theirs."""
    both = set[str]().union(*(found.defined for found in known)) & library
    return "".join(f"{name} {OWN}{name}\n" for name in sorted(both))


def check(wanted: list[Function], known: list[Object], problems: Problems) -> None:
    """Reports functions that no object file has, or several, and warns of those without an object
    in the OIL file."""
    spare = _spare(wanted, known)
    for function in wanted:
        owners = [found for found in known if symbol(function) in found.defined]
        strong = [found for found in owners if symbol(function) not in found.weak]
        if not owners:
            problems.error(
                function.place,
                f"{function.owner}: no source file has {function.written()}",
                _near(function, spare) or "SRC in the Makefile names the source files",
            )
        elif len(strong) > 1:
            problems.error(
                function.place,
                f"{function.owner}: {' and '.join(_source(found) for found in strong)} have "
                f"{function.written()}",
                "one of them",
            )
    for word, name, found in spare:
        problems.warn_once(
            f"{word} {name}",
            _place(word, name, found),
            f"{word}({name}) never runs: the OIL file does not name it",
        )


def _source(found: Object) -> str:
    return shown(found.source or str(found.path), 100)


def _spare(wanted: list[Function], objects: list[Object]) -> list[tuple[str, str, Object]]:
    """Returns the functions with a macro that the OIL file does not name, with their files."""
    names = {symbol(function) for function in wanted}
    return [
        (word, text.removeprefix(begin), found)
        for found in objects
        for text in sorted(found.defined - names)
        for word, begin in SYMBOLS.items()
        if word and text.startswith(begin)
    ]


def _near(function: Function, spare: list[tuple[str, str, Object]]) -> str:
    """Returns the file that has a function of nearly this name, or an empty string."""
    files = {name: found for word, name, found in spare if word == function.word}
    right = perhaps(function.name, files)
    if not right.startswith("perhaps "):
        return ""
    name = right.removeprefix("perhaps ")
    return f"{_source(files[name])} has {function.word}({name})"


def _place(word: str, name: str, found: Object) -> Place:
    """Returns the place of a function in its source file, as far as the file can be found."""
    begin = re.compile(rf"\b(?:{SPELLINGS.get(word, word)})\s*\(\s*{re.escape(name)}\s*\)")
    for path in _candidates(found):
        try:
            text = path.read_text(errors="replace")
        except (OSError, ValueError):
            continue
        match = begin.search(text)
        if match:
            line = text.count("\n", 0, match.start())
            column = match.start() - (text.rfind("\n", 0, match.start()) + 1)
            return Place(str(path), line + 1, column + 1, text.split("\n")[line])
    return Place(_source(found), 1, 1)


def _candidates(found: Object) -> list[Path]:
    """Returns where the source file may be: out/a/b.o is made from a/b.c."""
    parts = found.path.parts
    return [Path(*parts[first:-1], found.source) for first in range(len(parts))]
