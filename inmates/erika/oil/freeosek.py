# SPDX-License-Identifier: GPL-2.0-only
"""The forms of FreeOSEK's files that the grammar of OIL 2.5 lacks, rewritten into it: the section
OSEK, objects such as `EVENT = e;`, and braces that no semicolon follows."""

from __future__ import annotations

import re

SECTION = re.compile(r"(?:^|;)\s*\bOSEK(?=\s+[A-Za-z_][A-Za-z0-9_]*\s*\{)")
PART = re.compile(
    r"""
    (?P<string> "(?:\\.|[^"\\])*"? )
  | (?P<open> \{ )
  | (?P<close> \} (?P<bare> [ \t]* (?=[\n}] | [ \t][A-Za-z_]) )? )
  | (?P<object> \b (?:APPMODE | EVENT | RESOURCE) [ \t]* = )
""",
    re.VERBOSE | re.DOTALL,
)
# Characters that may follow a complete brace. This is matched in place, since a copy of the rest of
# the file for each brace would take a time that grows with the square of their number.
COMPLETE = re.compile(r"\s*[;,\]:]")


def is_freeosek(text: str) -> bool:
    return SECTION.search(text) is not None


def as_oil(text: str) -> str:
    """Returns the text in the grammar of OIL 2.5. Each line keeps its number, and a word its column
    unless a brace without a semicolon is before it in its line."""
    if not is_freeosek(text):
        return text
    text = SECTION.sub(lambda found: found[0].removesuffix("OSEK") + "CPU ", text)
    depth = 0

    def rewritten(found: re.Match[str]) -> str:
        nonlocal depth
        if found.lastgroup == "object":
            return found[0].replace("=", " ") if depth == 1 else found[0]
        if found["open"]:
            depth += 1
        elif found["close"]:
            depth -= 1
            if not COMPLETE.match(text, found.end()):
                return "};" + found[0][2:]
        return found[0]

    return PART.sub(rewritten, text)
