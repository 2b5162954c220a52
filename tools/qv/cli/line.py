# SPDX-License-Identifier: GPL-2.0-only
"""Parses a command line by the table of commands."""

from __future__ import annotations

from ..errors import WrongUsage
from .command import Arguments, Command, Option
from .help import group_usage
from .table import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def _wrong(
    words: str, usage: str = "qvctl COMMAND ...; `qvctl help` lists the commands"
) -> WrongUsage:
    return WrongUsage(words, usage)


# Words of other programs, alone or behind `cell`, and the commands that do the same here
_OTHER_WORDS = {
    "cell shutdown NAME": ("stop", "halt", "poweroff", "terminate", "down"),
    "cell destroy NAME": ("rm", "remove", "delete", "del", "undefine", "kill"),
    "cell list": ("ls", "ps", "cells"),
    "cell show NAME": ("info", "inspect", "describe", "get"),
    "cell create FILE": ("new", "add", "define", "load"),
    "cell restart NAME": ("reset", "reboot"),
    "cell apply FILE": ("run", "up", "deploy"),
    "cell console-log NAME": ("logs",),
    "log": ("dmesg",),
    "channel list": ("channels",),
}
_QUESH = {
    "quesh NAME": ("console", "attach", "shell", "enter", "connect", "login"),
    "quesh NAME -c LINE": ("exec",),
}
HINTS = {word: f"qvctl {line}" for line, words in _OTHER_WORDS.items() for word in words} | {
    word: line for line, words in _QUESH.items() for word in words
}


def _meant(word: str) -> str:
    """Returns the commands that a person means by a word that is no command here; or nothing."""
    if word in HINTS:
        return f" (perhaps `{HINTS[word]}`)"
    found = [command.path for command in COMMANDS if command.path.split(" ")[1:] == [word]]
    return f" (perhaps {' or '.join(f'`qvctl {path}`' for path in found)})" if found else ""


def _perhaps(word: str, known: Sequence[str]) -> str:
    import difflib

    close = difflib.get_close_matches(word, known, 1, 0.6)
    return f" (perhaps `{close[0]}`)" if close else ""


def find(words: Sequence[str]) -> tuple[Command, list[str]]:
    """Returns the command that a line names, and the words after its name."""
    if not words:
        raise _wrong("which command?")
    for command in COMMANDS:
        path = command.path.split(" ")
        if list(words[: len(path)]) == path:
            return command, list(words[len(path) :])
    tops = [command.path.partition(" ")[0] for command in COMMANDS]
    if words[0] not in tops:
        raise _wrong(
            f"there is no command `{words[0]}`{_meant(words[0]) or _perhaps(words[0], tops)}"
        )
    verbs = [
        command.path.partition(" ")[2]
        for command in COMMANDS
        if command.path.startswith(words[0] + " ")
    ]
    if len(words) == 1:
        raise _wrong(f"{words[0]} needs a command", group_usage(words[0]))
    hint = _meant(words[1]) if words[0] == "cell" and words[1] in HINTS else ""
    raise _wrong(
        f"{words[0]}: there is no `{words[1]}`{hint or _perhaps(words[1], verbs)}",
        group_usage(words[0]),
    )


def _value(option: Option, value: str, command: Command) -> object:
    try:
        return option.parse(value)
    except ValueError:
        raise _wrong(
            f"{option.flags[0]}: `{value}` is not a {option.parse.__doc__}", command.usage()
        ) from None


def _meant_option(command: Command, flag: str) -> str:
    """Returns the option of the command that a person means, or the only command that has it."""
    near = _perhaps(flag, [flag for known in command.options for flag in known.flags])
    owners = [other for other in COMMANDS if any(flag in known.flags for known in other.options)]
    return near or (f" (`qvctl {owners[0].path}` has it)" if len(owners) == 1 else "")


def _options(args: Arguments, command: Command, words: list[str]) -> list[str]:
    """Sets the options in `words`. Returns the other words."""
    operands: list[str] = []
    for known in command.options:
        setattr(args, known.name, known.default)
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
            raise _wrong(
                f"{command.path}: there is no option {flag}{_meant_option(command, flag)}",
                command.usage(),
            )
        if not option.metavar:
            if equals:
                raise _wrong(f"{flag} takes no value", command.usage())
            setattr(args, option.name, option.switched)
            continue
        if not equals and not words:
            raise _wrong(f"{flag} wants a value: {option.metavar}", command.usage())
        setattr(args, option.name, _value(option, value if equals else words.pop(0), command))
    return operands


def parse(words: Sequence[str], args: Arguments) -> Command:
    """Returns the command that a line names, and its arguments."""
    command, rest = find(
        [word for word in words if word != "--json"] if "--" not in words else words
    )
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
