# SPDX-License-Identifier: GPL-2.0-only
"""The command line of qvctl."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from . import VERSION
from .errors import Refused, WrongConfiguration, WrongUsage
from .system import System

Subcommands = argparse._SubParsersAction  # what add_subparsers() gives
Command = Callable[[argparse.Namespace, System], int]

EXIT_REFUSED = 1
EXIT_WRONG = 2


class Parser(argparse.ArgumentParser):
    """Says what is wrong in qvctl's own form."""

    def error(self, message: str) -> NoReturn:
        raise WrongUsage(f"{message}\n  usage: {self.format_usage().removeprefix('usage: ').strip()}")


def _seconds(value: str) -> float:
    seconds = float(value)
    if not 0 < seconds <= 86400:
        raise ValueError
    return seconds


def _count(value: str) -> int:
    count = int(value)
    if not 0 <= count <= 1_000_000:
        raise ValueError
    return count


def _milliseconds(value: str) -> int:
    milliseconds = int(value)
    if not 0 <= milliseconds <= 3_600_000:
        raise ValueError
    return milliseconds


_seconds.__name__ = "number of seconds"
_count.__name__ = "count"
_milliseconds.__name__ = "number of milliseconds"


def build_parser() -> Parser:
    parser = Parser(prog="qvctl", description="Partitions of a running Linux: checks, creates and shows cells.")
    parser.add_argument("--version", action="version", version=f"qvctl {VERSION}")
    parser.add_argument("--json", action="store_true", help="print data as JSON")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add(commands, "doctor", "doctor.doctor", "what stands in the way here, and its remedy")
    _add(commands, "enable", "cells.enable", "put the monitor under the running Linux")
    _add(commands, "disable", "cells.disable", "take the monitor away again")
    _add(commands, "status", "show.status", "what the machine offers and whether QV is enabled")
    _add(commands, "devices", "devices.devices", "the PCI functions, and which a cell could have")
    _add_cell_commands(commands)
    _add_config_commands(commands)
    for name, run, words in (("log", "follow.log", "what driver and monitor logged"),
                             ("events", "follow.events", "state changes of QV and its cells")):
        command = _add(commands, name, run, words)
        command.add_argument("-f", "--follow", action="store_true", help="go on as more come")
        if name == "log":
            command.add_argument("--previous", action="store_true",
                                 help="what the monitors logged before the machine last went down (warm restart)")
    return parser


def _add(commands: Subcommands[Parser], name: str, run: str, words: str) -> Parser:
    """`run` is module.function: loaded when it is wanted, since start-up is most of what a command takes."""
    command = commands.add_parser(name, help=words, description=words)
    command.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print data as JSON")
    command.set_defaults(run=run)
    return command


def _add_cell_commands(commands: Subcommands[Parser]) -> None:
    cell = commands.add_parser("cell", help="create, start, stop and show cells")
    verbs = cell.add_subparsers(dest="verb", metavar="VERB", required=True)
    create = _add(verbs, "create", "cells.create", "create the cell that a YAML file describes")
    create.add_argument("file", metavar="FILE")
    create.add_argument("--start", action="store_true", help="start it as well")
    _add(verbs, "list", "show.list_cells", "all cells")
    for name, run, words in (
            ("start", "cells.start", "start a created cell"),
            ("shutdown", "cells.shutdown", "ask a cell to end; after the time-out it is stopped"),
            ("destroy", "cells.destroy", "stop a cell and give Linux its CPUs and memory back"),
            ("lock", "cells.lock", "no more management until this cell agrees to unlock"),
            ("unlock", "cells.unlock", "ask a cell to agree that management is unlocked"),
            ("show", "show.show_cell", "all about one cell; why it failed"),
            ("stats", "stats.stats", "a cell's exits by reason and CPU; `linux` is the front end")):
        command = _add(verbs, name, run, words)
        command.add_argument("name", metavar="NAME")
        if name == "shutdown":
            command.add_argument("--timeout", type=_milliseconds, default=5000, metavar="MS",
                                 help="milliseconds before it is stopped (default 5000; 0: at once)")
        if name == "unlock":
            command.add_argument("--timeout", type=_milliseconds, default=5000, metavar="MS",
                                 help="milliseconds to wait for its agreement (default 5000)")
        if name == "stats":
            command.add_argument("--interval", type=_seconds, metavar="S", help="also rates over S seconds")
            command.add_argument("-n", dest="count", type=_count, metavar="N",
                                 help="with --interval: N times (default 1; 0: until interrupted)")


def _add_config_commands(commands: Subcommands[Parser]) -> None:
    config = commands.add_parser("config", help="check configuration files")
    verbs = config.add_subparsers(dest="verb", metavar="VERB", required=True)
    check = _add(verbs, "check", "cells.check", "check YAML files, each by itself and against one another")
    check.add_argument("-v", dest="verbose", action="store_true",
                       help="also what share of the CPU the VCPUs of each may take, and how long they may wait")
    check.add_argument("files", metavar="FILE", nargs="+")


def main(argv: Sequence[str] | None = None, system: System | None = None) -> int:
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may know ASCII only
    try:
        args = build_parser().parse_args(argv)
        module, _, function = args.run.partition(".")
        run: Command = getattr(importlib.import_module(f".{module}", __package__), function)
        return run(args, system or System())
    except Refused as refusal:
        print(f"qvctl: {refusal.sentence}", file=sys.stderr)
        if refusal.remedy:
            print(f"  remedy: {refusal.remedy}", file=sys.stderr)
        return EXIT_REFUSED
    except ModuleNotFoundError as missing:
        if missing.name != "yaml":
            raise
        print("qvctl: Python's YAML parser is missing: a cell's file cannot be read\n"
              "  remedy: apt install python3-yaml", file=sys.stderr)
        return EXIT_REFUSED
    except WrongConfiguration as wrong:
        print("\n".join(wrong.lines), file=sys.stderr)
        return EXIT_WRONG
    except WrongUsage as wrong:
        print(f"qvctl: {wrong}", file=sys.stderr)
        return EXIT_WRONG
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # the reader has gone (`qvctl log | head`): nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
