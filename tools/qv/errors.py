# SPDX-License-Identifier: GPL-2.0-only
"""What qvctl says when it cannot do what it was asked."""

from __future__ import annotations


class Refused(Exception):
    """The system refuses: a sentence, a remedy, exit status 1."""

    def __init__(self, sentence: str, remedy: str = "", code: int = 0) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.remedy = remedy
        self.code = code


class WrongConfiguration(Exception):
    """The configuration is wrong: its lines, exit status 2, nothing changed."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class WrongUsage(Exception):
    """The command line is wrong: a sentence, exit status 2."""
