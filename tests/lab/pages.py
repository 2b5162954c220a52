# SPDX-License-Identifier: GPL-2.0-only
"""Reads the command blocks of the documents, with the output that they promise."""

import re
from pathlib import Path
from typing import NamedTuple

from lab.paths import TOP

PAGES = sorted([*TOP.glob("*.md"), *(TOP / "Documentation").rglob("*.md")])
FENCE = re.compile(r"```(\w*)$")
COMMAND = re.compile(r"[#>] \S|(?:make|qvctl|qvoil|quesh|qvlab|gcc|modprobe|apt|systemctl|\$\(|(?:tests|inmates|scripts|tools)/)\S* ?")
REMARK = re.compile(r"\s{2,}(?:#.*|\(.*\))$")

# Parts of the output that may differ from the page: times, addresses, process ids. A time in
# brackets may have another unit, too, since the tools choose the unit by the size.
SPAN = r"(?:ns|us|ms|s)"
VARIES = re.compile(rf"(?<=\()[0-9.]+ {SPAN}(?=\))|" r"[0-9a-f]{16}|\b\d+(?:\.\d+)?(?= (?:ms|us|s)\b)|(?<=pid )\d+")


class Block(NamedTuple):
    """Adjacent lines of a page that are indented by four blanks, or that are between fences."""

    page: str
    kind: str  # the word after the opening fence; "" without such a word
    lines: tuple[str, ...]

    def commands(self) -> list[str]:
        """Returns the commands, without prompts and remarks."""
        return [REMARK.sub("", line[2:] if line[:2] in ("# ", "> ") else line)
                for line in self.lines if COMMAND.match(line)]

    def steps(self) -> "list[Step]":
        """Returns each command behind a prompt, with the output below it."""
        steps: list[Step] = []
        for line in self.lines:
            if line[:2] in ("# ", "> "):
                steps.append(Step(line[0], REMARK.sub("", line[2:]), []))
            elif steps:
                steps[-1].prints.append(line)
        return steps


class Step(NamedTuple):
    prompt: str  # "#": a root shell of Linux; ">": the shell of a cell
    command: str
    prints: list[str]

    def expected(self) -> str:
        """Returns a pattern for the output. It accepts any value for the parts that VARIES matches,
        and any number of blanks where the page has blanks."""
        parts = []
        for line in self.prints:
            at, text = 0, ""
            for found in VARIES.finditer(line):
                span = rf"[0-9.]+\s+{SPAN}" if found[0].endswith("s") else r"[0-9a-f.]+"
                text += re.escape(line[at:found.start()]) + span
                at = found.end()
            parts.append(text + re.escape(line[at:]))
        return r"\s*".join(re.sub(r"(?:\\ )+", r"\\s+", part) for part in parts)


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    kind, fenced = "", False
    lines: list[str] = []
    before = ""
    for line in [*page.read_text().split("\n"), ""]:
        fence = FENCE.match(line)
        if fence:
            if lines:
                found.append(Block(page.name, kind, tuple(lines)))
            fenced, kind, lines = not fenced, fence[1], []
        elif fenced:
            lines.append(line)
        elif line.startswith("    ") and (lines or not before):
            lines.append(line[4:])
        elif lines:
            found.append(Block(page.name, kind, tuple(lines)))
            kind, lines = "", []
        before = line
    return found


def command_blocks() -> list[Block]:
    return [block for page in PAGES for block in blocks(page)
            if block.kind in ("", "sh") and block.commands()]


def block(page: str, first: str) -> Block:
    """Returns the block of a page whose first command is `first` or else begins with it."""
    here = [b for b in command_blocks() if b.page == page and b.commands()[0].startswith(first)]
    found = [b for b in here if b.commands()[0] == first] or here
    assert len(found) == 1, f"{page}: {len(found)} blocks begin with {first}"
    return found[0]
