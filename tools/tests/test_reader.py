# SPDX-License-Identifier: GPL-2.0-only
"""reader.py and PyYAML read the same: types, values and places."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from qv import anyyaml, reader

TOP = Path(__file__).resolve().parents[2]
FILES = sorted([*(TOP / "configs").glob("*.yaml"), *(TOP / "tests/unit/config").glob("*/*.yaml")])
PIECES = (
    "name", "cpus", "memory", "64M", "1G", "3", "0", "007", "0x3f8-0x3ff", "0x80", "0x", "1_000", "1e5", "2-3", "2026-01-01",
    "1.5", ".5", "00:03.0", "12:30", "true", "No", "oN", "null", "~", "quest.elf", "/a/b c", "a=b,c", "500ms", "-1", "+2", "0b1",
    "\"x\"", "'y z'", "'it''s'", "\"\\n\"", "\"\"", "# c", " # c", ": ", ":", "- ", "-", "[", "]", "{", "}", ", ", ",", "\n", "\n  ",
    "\n    ", " ", "  ", "&a ", "*a", "!!str ", "|", ">", "---", "...", "?", "\t", "=", "<<", "%", "é", "[3]", "[2, 3]", "{a: 1}",
    "{a: b, c: [1]}", "key: value\n", "list:\n- 1\n- 2\n", "list:\n  - a\n", "name: quest\n", "\n\n", "y", "n", "1a", "1b", "(x)")


def agree(text: str) -> bool:
    """Whether reader.py reads it; if so, PyYAML has to read the same."""
    try:
        ours = reader.quick(text)
    except reader.Unsure:
        return False
    assert ours == anyyaml.compose(text), text
    return True


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_files_of_cells(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    read = agree(text)
    assert read or path.parent.name != "configs", "a shipped file is read without PyYAML"


@pytest.mark.parametrize("seed", range(8))
def test_texts_of_pieces(seed: int) -> None:
    chance = random.Random(seed)
    texts = ["".join(chance.choices(PIECES, k=chance.randint(1, 9))) for _ in range(4000)]
    texts += [f"{chance.choice(PIECES)}: {''.join(chance.choices(PIECES, k=chance.randint(1, 5)))}\n" for _ in range(4000)]
    assert sum(map(agree, texts)) > 100


@pytest.mark.parametrize("seed", range(4))
def test_files_with_a_piece_changed(seed: int) -> None:
    chance = random.Random(seed)
    sources = [path.read_text() for path in FILES if path.parent.name in ("configs", "good")]
    read = 0
    for _ in range(1000):
        text = chance.choice(sources)
        at, to = sorted(chance.choices(range(len(text) + 1), k=2))
        read += agree(text[:at] + chance.choice(PIECES) + text[min(to, at + 4):])
    assert read > 100
