# SPDX-License-Identifier: GPL-2.0-only
"""A row of the table of commands: its words, its operand, its options, its function."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Arguments:
    """A parsed command line: an attribute for each operand and option of its command."""

    json = False
    help = False

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Option:
    """An option of a command. `flags` are its names, such as --json. Without `metavar` it is a
    switch. Otherwise it has a value, which `parse` converts; for a wrong value, `parse` raises
    ValueError. Switches with the same `name` and a `choice` each exclude each other: the last one
    counts, and the attribute is None without any of them."""

    def __init__(
        self,
        flags: str,
        words: str,
        metavar: str = "",
        parse: Callable[[str], object] = str,
        default: object = None,
        name: str = "",
        choice: bool | None = None,
    ) -> None:
        self.flags = flags.split()
        self.words = words
        self.metavar = metavar
        self.parse = parse
        self.default = default if metavar else False if choice is None else None
        self.switched = choice is not False
        self.name = name or self.flags[-1].strip("-")

    def usage(self) -> str:
        return f"{self.flags[0]} {self.metavar}" if self.metavar else self.flags[0]


class Command:
    """`run` is MODULE.FUNCTION of this package. It is loaded on demand, since start-up takes most
    of the time.

    `operand` is its argument other than options: NAME of a cell, NAME... for one or more, FILE...,
    CHANNEL."""

    def __init__(
        self, path: str, run: str, words: str, operand: str = "", *options: Option
    ) -> None:
        self.path = path
        self.run = run
        self.words = words
        self.operand = operand
        self.options = (*options, JSON, HELP)

    def usage(self) -> str:
        return " ".join(
            [
                "qvctl",
                self.path,
                *([self.operand] if self.operand else []),
                *(f"[{option.usage()}]" for option in self.options if option is not HELP),
            ]
        )


JSON = Option("--json", "print data as JSON")
HELP = Option("-h --help", "print this")
