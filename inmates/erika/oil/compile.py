# SPDX-License-Identifier: GPL-2.0-only
"""From a file to an application: the steps of the compiler, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import dialect as dialects
from .derive import derive
from .check import Checked, Checker
from .model import Application
from .parse import parse
from .problems import Place, Problems, Stop, shown
from .processors import check_one
from .source import Source
from .spellings import rewritten
from .tree import File

VERSIONS = ("2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "3.0", "3.1", "4.0", "4.2")


@dataclass
class Compiled:
    """A file that was read. `application` is None if it has errors."""

    problems: Problems
    source: Source
    dialect: str = ""
    application: Application | None = None


def compile_file(path: Path, folders: Sequence[Path] = (), dialect: str = "") -> Compiled:
    """Reads a file and all that it includes. No text of a file makes it raise an exception."""
    return _compiled(folders, lambda source: source.add_file(path), dialect)


def compile_text(name: str, text: str, dialect: str = "") -> Compiled:
    """Reads a text, which may include files of its current folder."""
    return _compiled((), lambda source: source.add_text(name, text), dialect)


def _compiled(folders: Sequence[Path], add: Callable[[Source], None], dialect: str) -> Compiled:
    """Compiles the text that `add` adds to an empty source."""
    problems = Problems()
    result = Compiled(problems, Source(problems, list(folders)))
    try:
        add(result.source)
        application = _application(result, dialect)
        if not problems.errors():
            result.application = application
    except Stop:
        pass
    return result


def _application(result: Compiled, dialect: str) -> Application:
    problems = result.problems
    file = parse(result.source)
    _check_sections(file, result.source, problems)
    result.dialect = dialect or _guessed(file, result.source, problems)
    known = dialects.schema(result.dialect, problems)
    for implementation in file.implementations:
        known.add(implementation, own=False)
    checker = Checker(
        known,
        problems,
        lambda name: dialects.elsewhere(result.dialect, name),
        joins=lambda kind: dialects.joins(result.dialect, kind),
    )
    cpus = rewritten(file, result.dialect, dialects.supplied(result.dialect), problems)
    check_one(cpus, result.dialect, problems)
    checked = checker.check(cpus)
    if problems.errors():
        raise Stop
    application = derive(checked, problems)
    if result.dialect == "rtdruid":
        _warn_of_counters(checked, application, problems)
    return application


def _warn_of_counters(checked: Checked, application: Application, problems: Problems) -> None:
    """Warns of counters that an application of ERIKA 2 counts itself, but this kernel does not
    let it. ERIKA 2 has no TYPE."""
    for counter in application.counters:
        item = checked.of("COUNTER")[counter.name]
        if counter.tick_ns and not item.values.text("TYPE"):
            problems.warn_once(
                f"COUNTER {counter.name}",
                item.place,
                f"COUNTER {counter.name} has no TYPE, so it is on the system timer; with TYPE = "
                f"SOFTWARE, CounterTick({counter.name}) counts it",
            )


def _check_sections(file: File, source: Source, problems: Problems) -> None:
    for word in file.versions:
        if word.value not in VERSIONS:
            problems.error(
                word.place,
                f'OIL_VERSION "{shown(str(word.value))}" is not known',
                ", ".join(VERSIONS),
            )
    for word in file.versions[1:]:
        problems.error(word.place, "OIL_VERSION is given twice")
    if not file.cpus:
        raise problems.stop(
            source.place(len(source.lines) + 1, 1),
            "the file has no CPU section",
            "CPU name { OS ...; TASK ...; };",
        )
    for cpu in file.cpus[1:]:
        if cpu.name.value != file.cpus[0].name.value:
            problems.error(
                cpu.name.place,
                f"CPU {cpu.name.value} is a second CPU",
                f"CPU {file.cpus[0].name.value} may have several sections",
            )


def _guessed(file: File, source: Source, problems: Problems) -> str:
    name, mark, place = dialects.guess(file, source)
    if mark:
        problems.note(
            place or Place(source.lines[0].file, 1, 1),
            f"taken for the dialect {name}, because of {mark}; --dialect says otherwise",
        )
    return name
