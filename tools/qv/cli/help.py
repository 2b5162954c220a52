# SPDX-License-Identifier: GPL-2.0-only
"""The texts of `qvctl help`."""

from __future__ import annotations

from .command import JSON
from .table import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def _table(rows: Sequence[tuple[str, str]]) -> str:
    width = max(len(left) for left, _ in rows)
    return "\n".join(f"  {left:{width}}  {right}" for left, right in rows)


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
        return f"usage: {command.usage()}\n\n{command.words}\n\n{_table(options)}"
    if path:
        return f"usage: {group_usage(path)}\n\n{_table(_commands(path))}"
    options = [
        ("--json", JSON.words),
        ("--version", "print the version"),
        ("help COMMAND", "all about one command"),
    ]
    return (
        "usage: qvctl COMMAND ... [--json]\n\n"
        "Partitions of a running Linux: checks, creates and shows cells.\n\n"
        f"{_table([*_commands(), *options])}"
    )


def group_usage(path: str) -> str:
    verbs = [
        command.path.removeprefix(path + " ")
        for command in COMMANDS
        if command.path.startswith(path + " ")
    ]
    return f"qvctl {path} {'|'.join(verbs)} ..."
