#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints the tables of Documentation/reference/erika-conformance.md, from the cases."""

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CASE = re.compile(r"case (\w+) (\d+): (.+)")
# The families: their name in the cases, the plan's title and how many cases the plan has
FAMILIES = (
    ("task", "Task management", 56), ("interrupt", "Interrupt processing", 39), ("event", "Events", 43),
    ("resource", "Resources", 25), ("alarm", "Alarms", 43), ("hook", "Errors, hooks, start and end", 36),
    ("com", "Internal communication", 43), ("counter", "AUTOSAR: software counters", 24),
    ("table", "AUTOSAR: schedule tables", 80), ("sync", "AUTOSAR: synchronization of schedule tables", 60),
)
HEAD = """\
| Family | Cases in the plan | Cases here |
|---|---|---|
"""


@dataclass(frozen=True)
class Case:
    number: int
    text: str
    variants: str


def read(family: str) -> list[Case]:
    lines = (HERE / f"{family}.cases").read_text().splitlines()
    found = []
    for line, following in zip(lines, [*lines[1:], ""]):
        if match := CASE.fullmatch(line):
            assert match[1] == family, line
            variants = following[4:] if following.startswith("for ") else "all"
            found.append(Case(int(match[2]), match[3], variants))
    assert [c.number for c in found] == list(range(1, len(found) + 1)), family
    return found


def page() -> str:
    cases = {name: read(name) for name, _, _ in FAMILIES}
    text = HEAD + "".join(f"| {title} | {size} | {len(cases[name])} |\n" for name, title, size in FAMILIES)
    for name, title, _ in FAMILIES:
        text += f"\n## {title}\n\n| Case | What is shown | Variants |\n|---|---|---|\n"
        text += "".join(f"| {name} {c.number} | {c.text} | {c.variants} |\n" for c in cases[name])
    return text


if __name__ == "__main__":
    print(page(), end="")
