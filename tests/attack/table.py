#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints the tables of Documentation/reference/attacks.md from the tables of attacks."""

import importlib.util
import sys
from pathlib import Path
from unittest.mock import MagicMock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))  # pytest has this from pyproject.toml
sys.dont_write_bytecode = True

FAMILIES = {
    "memory": "Memory outside the cell", "channels": "Channels", "keys": "Channels at run time", "outsider": "A third cell and channels of two others", "msr": "Model-specific registers", "instructions": "Instructions, control registers, storms",
    "interrupts": "Interrupts", "ports": "I/O ports", "shared": "What Linux reads of a cell", "floods": "Floods",
    "second": "Cells with two CPUs", "direct": "Direct IPIs",
}
NAMES = {"amd": "AMD", "intel": "Intel"}
OPEN_NOTE = "*open: recorded, not asserted*"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def expected(row: "rows.Row") -> str:
    """Returns the expected outcome in words, for each vendor if they differ."""
    import rows

    there = {vendor: " or ".join(row.there(vendor)) for vendor in rows.VENDORS if not row.flags & set(rows.VENDORS) - {vendor}}
    words = [f"{NAMES[vendor]}: {what}" for vendor, what in there.items()] if len(set(there.values())) > 1 else [*there.values()][:1]
    return "; ".join(words) + (f"; {OPEN_NOTE}" if row.open else "")


def inmates() -> list[str]:
    import rows

    lines = ["## From inside a cell", ""]
    for family, title in FAMILIES.items():
        lines += [f"### {title}", "", "| Attack | What it does | What must happen |", "|---|---|---|"]
        for row in rows.every():
            if row.family != family:
                continue
            flags = row.flags & {*rows.VENDORS, "xapic", "x2apic", "direct", "smp"}
            where = " ".join(NAMES.get(flag, flag) for flag in sorted(flags))
            lines.append(f"| `{row.name}`{f' ({where})' if where else ''} | {cell(row.what)} | {cell(expected(row))} |")
        lines.append("")
    return lines


def front() -> list[str]:
    from front import ROWS

    lines = ["## From Linux", "", "| Attack | What it does | What must happen |", "|---|---|---|"]
    for row in ROWS:
        where = f" ({NAMES.get(row.where, row.where)})" if row.where else ""
        expected = row.expected + (f"; *open: {row.open}*" if row.open else "")
        lines.append(f"| `{row.name}`{where} | {cell(row.what)} | {cell(expected)} |")
    return lines


def known() -> list[str]:
    import answers

    lines: list[str] = []
    for title, table in answers.TABLES.items():
        lines += ["", f"## {title}", "", "| What | Where it is tried |", "|---|---|"]
        lines += [f"| {what} | {', '.join(a if a.startswith(answers.OPEN) else f'`{a}`' for a in named)} |"
                  for what, named in table.items()]
    return lines


def page() -> str:
    return "\n".join([*inmates(), *front(), *known()]) + "\n"


if __name__ == "__main__":
    # a tree that makes packages has no pytest, which the tables do not need
    if not importlib.util.find_spec("pytest"):
        sys.modules["pytest"] = MagicMock()
    print(page(), end="")
