# SPDX-License-Identifier: GPL-2.0-only
"""The command line of qvoil."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from . import VERSION, reference
from .compile import Compiled, compile_file
from .dialect import DIALECTS

# Exit statuses
DONE, FAILED, WRONG = 0, 1, 2


def say(text: str) -> None:
    print(text, file=sys.stderr)


def report(compiled: Compiled) -> None:
    """Writes errors, warnings and notes to standard error."""
    for problem in compiled.problems.found:
        say(str(problem))
    count = len(compiled.problems.errors())
    if count:
        say(f"qvoil: {count} error{'s' if count > 1 else ''}; nothing was written")


def check(arguments: argparse.Namespace) -> int:
    compiled = compile_file(arguments.file, arguments.include, arguments.dialect)
    report(compiled)
    return DONE if compiled.application else WRONG


def attributes(_arguments: argparse.Namespace) -> int:
    print(reference.page(), end="")
    return DONE


def add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("check", help="check an OIL file; write nothing")
    parser.add_argument("file", type=Path, metavar="FILE")
    add_source(parser)
    parser.set_defaults(run=check)


def add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-I",
                        dest="include",
                        type=Path,
                        action="append",
                        default=[],
                        metavar="FOLDER",
                        help="search this folder for included files")
    parser.add_argument("--dialect",
                        choices=DIALECTS,
                        default="",
                        help="whose attributes the file may use; otherwise it is guessed")


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="qvoil",
                                  description="Compile OIL files for the OSEK kernel of QV.")
    top.add_argument("--version", action="version", version=f"qvoil {VERSION}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    add_check(commands)
    listed = commands.add_parser("attributes", help="print all objects and attributes as a page")
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
