# SPDX-License-Identifier: GPL-2.0-only
"""The texts of `qvctl help`."""

from __future__ import annotations

from .command import JSON
from .table import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


ABOUT = "Partitions of a running Linux: checks, creates and shows cells."
LEAST = 20  # columns for words


def _columns() -> int:
    """The width of the terminal. A file or a pipe gets whole lines."""
    import shutil

    return shutil.get_terminal_size((10_000, 24)).columns


def _wrapped(words: str, columns: int) -> list[str]:
    import textwrap

    return textwrap.wrap(words, max(columns, LEAST), break_on_hyphens=False) or [""]


def _table(rows: Sequence[tuple[str, str]]) -> str:
    """Two columns within the width of the terminal. Words that have too little room go below."""
    width, columns = max(len(left) for left, _ in rows), _columns()
    beside = columns - width - 4
    if beside >= LEAST:
        end = "\n" + " " * (width + 4)
        return "\n".join(
            f"  {left:{width}}  {end.join(_wrapped(right, beside))}" for left, right in rows
        )
    end = "\n" + " " * 6
    return "\n".join(
        f"  {left}{end}{end.join(_wrapped(right, columns - 6))}" for left, right in rows
    )


def _commands(prefix: str = "") -> list[tuple[str, str]]:
    return [
        (f"{command.path} {command.operand}".rstrip(), command.words)
        for command in COMMANDS
        if not prefix or command.path.startswith(prefix + " ")
    ]


def help_text(path: str = "") -> str:
    """The output of `qvctl help` about all commands, a group of them, or one."""
    command = next((command for command in COMMANDS if command.path == path), None)
    if command:
        options = [
            (
                ", ".join(option.flags) + (f" {option.metavar}" if option.metavar else ""),
                option.words,
            )
            for option in command.options
        ]
        about = "\n".join(_wrapped(command.words, _columns()))
        usage = "\n         ".join(_wrapped(f"usage: {command.usage()}", _columns() - 9))
        return f"{usage}\n\n{about}\n\n{_table(options)}"
    if path:
        return f"usage: qvctl {path} COMMAND ...\n\n{_table(_commands(path))}"
    options = [
        ("--json", JSON.words),
        ("--version", "print the version and the commit"),
        ("help COMMAND", "all about one command"),
    ]
    end = "\n"
    return (
        "usage: qvctl COMMAND ... [--json]\n\n"
        f"{end.join(_wrapped(ABOUT, _columns()))}\n\n"
        f"{_table([*_commands(), *options])}"
    )


def group_usage(path: str) -> str:
    verbs = [
        command.path.removeprefix(path + " ")
        for command in COMMANDS
        if command.path.startswith(path + " ")
    ]
    return f"qvctl {path} {'|'.join(verbs)} ..."
