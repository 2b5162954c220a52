# SPDX-License-Identifier: GPL-2.0-only
"""The command line of qvoil."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from . import VERSION, linkcheck, new, reference
from .compile import compile_file
from .dialect import DIALECTS
from .emit import COMMANDS, commands, files
from .problems import Problems
from .source import SUPPLIED
from .trace import command as trace_command
from .write import write

# Exit statuses
DONE, FAILED, WRONG = 0, 1, 2
DEPENDENCIES = "os_config.oil.d"


def say(text: str) -> None:
    print(text, file=sys.stderr)


def report(problems: Problems, undone: str = "written") -> None:
    """Writes errors, warnings and notes to standard error."""
    for problem in problems.found:
        say(str(problem))
    count = len(problems.errors())
    if count:
        say(f"qvoil: {count} error{'s' if count > 1 else ''}; nothing was {undone}")


def check(arguments: argparse.Namespace) -> int:
    compiled = compile_file(arguments.file, arguments.include, arguments.dialect)
    report(compiled.problems)
    return DONE if compiled.application else WRONG


def build(arguments: argparse.Namespace) -> int:
    """Compiles a file, and writes what the kernel, make, editors and debuggers need."""
    compiled = compile_file(arguments.file, arguments.include, arguments.dialect)
    report(compiled.problems)
    if not compiled.application:
        return WRONG
    folder: Path = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    made = {
        folder / name: text
        for name, text in files(compiled.application, arguments.file.name).items()
    }
    own = [path for path in compiled.source.read if SUPPLIED not in path.parents]
    made[folder / DEPENDENCIES] = dependencies(folder, own)
    if arguments.compiler:
        sources = [
            *arguments.source,
            *map(Path, compiled.application.sources),
            folder / "os_config.c",
        ]
        made[Path(COMMANDS)] = commands.text(compiled.application, sources, arguments.compiler)
    for path, text in made.items():
        write(path, text)
        print(path)
    return DONE


def link_check(arguments: argparse.Namespace) -> int:
    """Checks object files against the OIL file, before they are linked. `build` has reported the
    warnings of that file."""
    compiled = compile_file(arguments.file, arguments.include, arguments.dialect)
    if not compiled.application:
        report(compiled.problems)
        return WRONG
    problems = Problems()
    known = linkcheck.read_all(arguments.objects)
    if known:
        linkcheck.check(compiled.application.functions, known, problems)
    if arguments.renamed:
        library = set(arguments.library.read_text().split()) if arguments.library else set[str]()
        arguments.renamed.write_text(linkcheck.renamed(known, library))
    report(problems, "linked")
    return WRONG if problems.errors() else DONE


def dependencies(folder: Path, read: list[Path]) -> str:
    """Returns a rule for make: the generated files are as old as the OIL files that were read."""

    def escaped(path: Path) -> str:
        return str(path).replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")

    target, sources = escaped(folder / "os_config.mk"), [escaped(path) for path in read]
    return f"{target}: {' '.join(sources)}\n" + "".join(f"{source}:\n" for source in sources)


def begin(arguments: argparse.Namespace) -> int:
    """Makes the folder of a new application."""
    folder: Path = arguments.folder
    try:
        made = new.make(folder, arguments.example)
    except new.Refused as error:
        say(f"qvoil: {error}\n  remedy: {error.remedy}")
        return FAILED
    for path in made:
        print(path)
    say(f"next: cd {shlex.quote(str(folder))} && make")
    return DONE


def attributes(_arguments: argparse.Namespace) -> int:
    print(reference.page(), end="")
    return DONE


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_check(known: Commands) -> None:
    add_compiler(known, "check", "check an OIL file; write nothing", check)


def add_build(known: Commands) -> None:
    parser = add_compiler(
        known, "build", "compile an OIL file; print the names of written files", build
    )
    parser.add_argument(
        "-o",
        dest="output",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="write there, not into the current folder",
    )
    parser.add_argument(
        "--compiler",
        default="",
        metavar="COMMAND",
        help="write compile_commands.json into the current folder, with this command",
    )
    parser.add_argument(
        "--source",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a source file for it that the OIL file does not name",
    )


def add_link_check(known: Commands) -> None:
    parser = add_compiler(
        known,
        "link-check",
        "check that object files have the functions that the OIL file names",
        link_check,
    )
    parser.add_argument("objects", type=Path, nargs="+", metavar="OBJECT")
    parser.add_argument(
        "--library", type=Path, metavar="FILE", help="this file has the symbols of the libraries"
    )
    parser.add_argument(
        "--renamed",
        type=Path,
        metavar="FILE",
        help="write there new names for symbols that the libraries have, too",
    )


def add_new(known: Commands) -> None:
    parser = known.add_parser("new", help="make the folder of a new application")
    parser.add_argument("folder", type=Path, metavar="NAME")
    parser.add_argument(
        "--example",
        choices=new.examples(),
        default="blink",
        help="the sample that it begins with (default: blink)",
    )
    parser.set_defaults(run=begin)


def add_compiler(
    known: Commands, name: str, purpose: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    """Adds a command that reads an OIL file."""
    parser = known.add_parser(name, help=purpose)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "-I",
        dest="include",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="search this folder for included files",
    )
    parser.add_argument(
        "--dialect",
        choices=DIALECTS,
        default="",
        help="whose attributes the file may use; otherwise it is guessed",
    )
    parser.set_defaults(run=run)
    return parser


def built_from() -> str:
    """Returns the commit that was installed; empty if it is not known, as in a source tree."""
    try:
        commit = (Path(__file__).parents[1] / "revision").read_text(encoding="ascii").strip()
    except OSError:
        return ""
    return f" (commit {commit})" if commit else ""


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="qvoil", description="Compile OIL files for the OSEK kernel of QV."
    )
    top.add_argument("--version", action="version", version=f"qvoil {VERSION}{built_from()}")
    known = top.add_subparsers(required=True, metavar="COMMAND")
    add_build(known)
    add_check(known)
    add_link_check(known)
    add_new(known)
    trace_command.add(
        known.add_parser("trace", help="check the rules in a trace, and draw the schedule")
    )
    listed = known.add_parser("attributes", help="print all objects and attributes as a page")
    listed.set_defaults(run=attributes)
    return top


def main(words: Sequence[str]) -> int:
    """Runs a command. Returns its exit status."""
    arguments = parser().parse_args(list(words))
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        return run(arguments)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        say(f"qvoil: {where}{(error.strerror or 'error').lower()}")
        return FAILED
    except KeyboardInterrupt:
        return 130
