# SPDX-License-Identifier: GPL-2.0-only
"""The errors of qvctl, as text and, with --json, as data."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .problems import Problem


class Failed(Exception):
    """A command that failed: its exit status, its text, its data."""

    status = 1

    def text(self) -> str:
        return f"qvctl: {self}"

    def data(self) -> dict[str, Any]:
        return {"sentence": str(self)}


class Refused(Failed):
    """The system refuses: a sentence, a remedy, exit status 1. `code` is a reason of the driver, or
    0."""

    def __init__(self, sentence: str, remedy: str = "", code: int = 0) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.remedy = remedy
        self.code = code

    def text(self) -> str:
        return f"qvctl: {self.sentence}" + (f"\n  remedy: {self.remedy}" if self.remedy else "")

    def data(self) -> dict[str, Any]:
        from . import abi

        known = next((reason.name for reason in abi.Reason if reason == self.code), None)
        return {
            "sentence": self.sentence,
            "remedy": self.remedy,
            "reason": known if self.code else None,
        }


class NotLoaded(Refused):
    """There is no driver."""


class NotAllowed(Refused):
    """This user may not open the driver's device."""


class NotEnabled(Refused):
    """The unit of a cell finds QV not enabled, or a required cell without a unit that runs. A new
    start of the unit would not help."""

    status = 4


class WrongConfiguration(Failed):
    """The configuration is wrong: its problems, exit status 2, nothing changed."""

    status = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("the configuration is wrong")
        self.problems = problems

    def text(self) -> str:
        return "\n".join(map(str, self.problems))

    def data(self) -> dict[str, Any]:
        return {"sentence": str(self), "problems": [problem.data() for problem in self.problems]}


class WrongUsage(Failed):
    """The command line is wrong: a sentence, the correct usage, exit status 2."""

    status = 2

    def __init__(self, sentence: str, usage: str = "") -> None:
        super().__init__(sentence)
        self.usage = usage

    def text(self) -> str:
        return f"qvctl: {self}" + (f"\n  usage: {self.usage}" if self.usage else "")

    def data(self) -> dict[str, Any]:
        return {"sentence": str(self), "usage": self.usage}


class CannotBe(Failed):
    """The awaited state can no longer come."""

    status = 3


class TimedOut(Failed):
    """The awaited state has not come in time."""

    status = 124


class Interrupted(Failed):
    """The user interrupted the command from the keyboard. The text reports the state."""

    status = 130
