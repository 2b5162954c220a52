# SPDX-License-Identifier: GPL-2.0-only
"""The command line of qvctl: its commands and its exit statuses."""

from __future__ import annotations

import os
import sys

from . import VERSION
from . import output
from .errors import Failed, Interrupted, Refused, WrongUsage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .system import System


class Arguments:
    """A parsed command line: an attribute for each operand and option of its command."""

    json = False
    help = False


class Option:
    """`flags` are as typed. Without `metavar` it is a switch, else `parse` returns its value or
    raises ValueError."""

    def __init__(self, flags: str, words: str, metavar: str = "", parse: Callable[[str], object] = str,
                 default: object = None, name: str = "") -> None:
        self.flags = flags.split()
        self.words = words
        self.metavar = metavar
        self.parse = parse
        self.default = default if metavar else False
        self.name = name or self.flags[-1].strip("-")

    def usage(self) -> str:
        return f"{self.flags[0]} {self.metavar}" if self.metavar else self.flags[0]


class Command:
    """`run` is module.function. It is loaded on demand, since start-up takes most of the time.

    `operand` is its argument other than options: NAME, or NAME... for one or more."""

    def __init__(self, path: str, run: str, words: str, operand: str = "", *options: Option) -> None:
        self.path = path
        self.run = run
        self.words = words
        self.operand = operand
        self.options = (*options, JSON, HELP)

    def usage(self) -> str:
        return " ".join(["qvctl", self.path, *([self.operand] if self.operand else []),
                         *(f"[{option.usage()}]" for option in self.options if option is not HELP)])


def _seconds(value: str) -> float:
    """number of seconds"""
    seconds = float(value)
    if not 0 < seconds <= 86400:
        raise ValueError
    return seconds


def _count(value: str) -> int:
    """count"""
    count = int(value)
    if not 0 <= count <= 1_000_000:
        raise ValueError
    return count


def _milliseconds(value: str) -> int:
    """number of milliseconds"""
    milliseconds = int(value)
    if not 0 <= milliseconds <= 3_600_000:
        raise ValueError
    return milliseconds


JSON = Option("--json", "print data as JSON")
HELP = Option("-h --help", "print this")
STRICT = Option("--strict", "refuse when there is nothing to do")
FOLLOW = Option("-f --follow", "go on as more come")

COMMANDS = (
    Command("doctor", "doctor.doctor", "what stands in the way here, and its remedy"),
    Command("enable", "cells.enable", "put the monitor under the running Linux", "",
            Option("--strict", "refuse when it is enabled already, or when a CPU would stay outside the monitor")),
    Command("disable", "cells.disable", "take the monitor away again", "", STRICT),
    Command("status", "show.status", "what the machine offers and whether QV is enabled"),
    Command("devices", "devices.devices", "the PCI functions, and which a cell could have"),
    Command("cell create", "cells.create", "create the cell that a YAML file describes", "FILE",
            Option("--start", "start it as well"),
            Option("--force", "take a device that Linux uses, too: a mounted disk, a network interface that is up")),
    Command("cell start", "cells.start", "start created cells", "NAME...", STRICT),
    Command("cell shutdown", "cells.shutdown", "ask cells to end; after the time-out they are stopped", "NAME...", STRICT,
            Option("--timeout", "milliseconds before it is stopped (default 5000; 0: at once)", "MS", _milliseconds, 5000)),
    Command("cell destroy", "cells.destroy", "stop cells and give Linux their CPUs and memory back", "NAME...", STRICT),
    Command("cell lock", "cells.lock", "lock management until this cell agrees to unlock", "NAME...", STRICT),
    Command("cell unlock", "cells.unlock", "ask a cell to agree that management is unlocked", "NAME...", STRICT,
            Option("--timeout", "milliseconds to wait for its agreement (default 5000)", "MS", _milliseconds, 5000)),
    Command("cell list", "show.list_cells", "all cells"),
    Command("cell show", "show.show_cell", "all about a cell; why it failed; where it stands, if it has `debug: true`", "NAME...",
            Option("-v", "all registers of each CPU of a running cell that has `debug: true`", name="verbose")),
    Command("cell stats", "stats.stats", "a cell's exits by reason and CPU; `linux` is the front end", "NAME",
            Option("--interval", "also rates over S seconds", "S", _seconds),
            Option("-n", "with --interval: N times (default 1; 0: until interrupted)", "N", _count, name="count")),
    Command("config check", "cells.check", "check YAML files, each by itself and against one another", "FILE...",
            Option("-v", "also what share of the CPU the VCPUs of each may take, and how long they may wait", name="verbose")),
    Command("log", "follow.log", "what driver and monitor logged", "", FOLLOW,
            Option("--previous", "what the monitors logged before the machine last went down (warm restart)")),
    Command("events", "follow.events", "state changes of QV and its cells", "", FOLLOW),
)


def _table(rows: Sequence[tuple[str, str]]) -> str:
    width = max(len(left) for left, _ in rows)
    return "\n".join(f"  {left:{width}}  {right}" for left, right in rows)


def _commands(prefix: str = "") -> list[tuple[str, str]]:
    return [(f"{command.path} {command.operand}".rstrip(), command.words) for command in COMMANDS
            if not prefix or command.path.startswith(prefix + " ")]


def help_text(path: str = "") -> str:
    """The output of `qvctl help` about all commands, a group of them, or one."""
    command = next((command for command in COMMANDS if command.path == path), None)
    if command:
        options = [(", ".join(option.flags) + (f" {option.metavar}" if option.metavar else ""), option.words)
                   for option in command.options]
        return f"usage: {command.usage()}\n\n{command.words}\n\n{_table(options)}"
    if path:
        return f"usage: {group_usage(path)}\n\n{_table(_commands(path))}"
    options = [("--json", JSON.words), ("--version", "print the version"), ("help COMMAND", "all about one command")]
    return ("usage: qvctl COMMAND ... [--json]\n\nPartitions of a running Linux: checks, creates and shows cells.\n\n"
            f"{_table([*_commands(), *options])}")


def group_usage(path: str) -> str:
    verbs = [command.path.removeprefix(path + " ") for command in COMMANDS if command.path.startswith(path + " ")]
    return f"qvctl {path} {'|'.join(verbs)} ..."


def _wrong(words: str, usage: str = "qvctl COMMAND ...; `qvctl help` lists the commands") -> WrongUsage:
    return WrongUsage(words, usage)


def _perhaps(word: str, known: Sequence[str]) -> str:
    import difflib

    close = difflib.get_close_matches(word, known, 1, 0.6)
    return f" (perhaps `{close[0]}`)" if close else ""


def find(words: Sequence[str]) -> tuple[Command, list[str]]:
    """The command that a line names, and the words after its name."""
    if not words:
        raise _wrong("which command?")
    for command in COMMANDS:
        path = command.path.split(" ")
        if list(words[:len(path)]) == path:
            return command, list(words[len(path):])
    tops = [command.path.partition(" ")[0] for command in COMMANDS]
    if words[0] not in tops:
        raise _wrong(f"there is no command `{words[0]}`{_perhaps(words[0], tops)}")
    verbs = [command.path.partition(" ")[2] for command in COMMANDS if command.path.startswith(words[0] + " ")]
    raise _wrong(f"{words[0]}: there is no `{words[1]}`{_perhaps(words[1], verbs)}" if len(words) > 1
                 else f"{words[0]}: what of it?", group_usage(words[0]))


def _value(option: Option, value: str, command: Command) -> object:
    try:
        return option.parse(value)
    except ValueError:
        raise _wrong(f"{option.flags[0]}: `{value}` is not a {option.parse.__doc__}", command.usage()) from None


def _options(args: Arguments, command: Command, words: list[str]) -> list[str]:
    """Sets the options in `words`. Returns the other words."""
    operands: list[str] = []
    for option in command.options:
        setattr(args, option.name, option.default)
    while words:
        word = words.pop(0)
        if word == "--":
            return operands + words
        if not word.startswith("-") or word == "-":
            operands.append(word)
            continue
        flag, equals, value = word.partition("=")
        option = next((option for option in command.options if flag in option.flags), None)
        if option is None:
            known = [flag for option in command.options for flag in option.flags]
            raise _wrong(f"{command.path}: there is no option {flag}{_perhaps(flag, known)}", command.usage())
        if not option.metavar:
            if equals:
                raise _wrong(f"{flag} takes no value", command.usage())
            setattr(args, option.name, True)
            continue
        if not equals and not words:
            raise _wrong(f"{flag} wants a value: {option.metavar}", command.usage())
        setattr(args, option.name, _value(option, value if equals else words.pop(0), command))
    return operands


def parse(words: Sequence[str], args: Arguments) -> Command:
    """The command that a line names, and its arguments."""
    command, rest = find([word for word in words if word != "--json"] if "--" not in words else words)
    operands = _options(args, command, rest)
    args.json = "--json" in words
    if args.help:
        return command
    many = command.operand.endswith("...")
    if command.operand and not operands:
        raise _wrong(f"{command.path}: {command.operand.rstrip('.')} is missing", command.usage())
    if len(operands) > (len(operands) if many else bool(command.operand)):
        raise _wrong(f"{command.path}: `{operands[-1]}` is too much", command.usage())
    name = command.operand.rstrip(".").lower()
    setattr(args, name + "s" if many else name or "none", operands if many else "".join(operands))
    return command


def _help(words: Sequence[str]) -> int:
    path = " ".join(word for word in words if not word.startswith("-"))
    if path and not any(f"{command.path} ".startswith(f"{path} ") for command in COMMANDS):
        find(path.split(" "))
    output.line(help_text(path))
    return 0


def run(words: Sequence[str], system: System | None) -> int:
    if words and words[0] in ("--version", "version"):
        output.line(f"qvctl {VERSION}")
        return 0
    if words and words[0] in ("help", "-h", "--help"):
        return _help(words[1:])
    if len(words) == 2 and words[1] in ("-h", "--help") and words[0] in ("cell", "config"):
        return _help(words[:1])
    args = Arguments()
    command = parse(words, args)
    if args.help:
        return _help(command.path.split(" "))
    if system is None:
        from .system import System

        system = System()
    module, _, function = command.run.partition(".")
    code: Callable[[Arguments, System], int] = getattr(
        getattr(__import__(f"{__package__}.{module}"), module), function)
    try:
        return code(args, system)
    except KeyboardInterrupt:
        if module != "cells":
            raise
        from .cells import how_things_stand

        raise Interrupted(f"interrupted: {how_things_stand(getattr(args, 'names', []), system)}") from None


def _unexpected(error: Exception) -> Refused:
    """A mistake in qvctl itself."""
    if "QVCTL_TRACE" in os.environ:
        raise error
    if isinstance(error, ModuleNotFoundError) and error.name == "yaml":
        return Refused("Python's YAML parser is missing: this file cannot be read without it", "apt install python3-yaml")
    return Refused(f"qvctl met something that it does not know: {type(error).__name__}: {error}",
                   "QVCTL_TRACE=1 in the environment shows where; please report that")


def main(argv: Sequence[str] | None = None, system: System | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    json = "--json" in words
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may support ASCII only
    try:
        status = run(words, system)
    except Failed as failure:
        status = output.fail(failure, json)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        output.silence()    # the reader has ended (`qvctl log | head`)
        return 0
    except Exception as error:
        status = output.fail(_unexpected(error), json)
    if status:
        output.flush_or_silence()
    return status
