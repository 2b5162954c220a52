# SPDX-License-Identifier: GPL-2.0-only
"""Reads malformed.txt: OIL texts and the messages of the compiler."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from oil.compile import compile_text

TABLE = Path(__file__).with_name("malformed.txt")
MARK, SAYS = "\n=== ", "--- says\n"
BEFORE, AFTER = "CPU c { OS o { };", "};"


@dataclass
class Case:
    name: str
    text: str
    expected: str

    def oil(self) -> str:
        """Returns the whole file. The text of a case is inside CPU, unless its name begins with
        `whole:`."""
        if self.name.startswith("whole:") or not self.text:
            return self.text
        return f"{BEFORE}\n{self.text}{AFTER}\n"

    def said(self) -> str:
        """Returns what the compiler says of it, a sentence in each line."""
        return "".join(f"{problem.sentence()}\n"
                       for problem in compile_text("case.oil", self.oil()).problems.found)


def cases() -> list[Case]:
    found = []
    for part in TABLE.read_text().split(MARK)[1:]:
        name, _, rest = part.partition("\n")
        text, _, expected = (rest.rstrip("\n") + "\n").partition(SAYS)
        found.append(Case(name, text, expected))
    return found


def text() -> str:
    """Returns the file with the messages of the present compiler."""
    head = TABLE.read_text().split(MARK)[0]
    parts = [f"{MARK}{case.name}\n{case.text}{SAYS}{case.said().rstrip()}" for case in cases()]
    return head + "".join(parts) + "\n"
