# SPDX-License-Identifier: GPL-2.0-only
"""Makes the folder of a new application, from a sample."""

from __future__ import annotations

import re
from pathlib import Path

# The samples are next to the package, in the source tree and where it is installed.
SAMPLES = Path(__file__).resolve().parents[1] / "samples"


class Refused(Exception):
    """The folder cannot be made: a sentence, a remedy."""

    def __init__(self, sentence: str, remedy: str) -> None:
        super().__init__(sentence)
        self.remedy = remedy


def examples() -> list[str]:
    return sorted(path.name for path in SAMPLES.glob("*") if path.is_dir())


def word_of(folder: Path) -> str:
    """Returns the name of files and cell for a folder: its own in letters that make can read."""
    word = re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-")
    return word[:24].rstrip("-") or "application"


def _renamed(text: str, example: str, word: str) -> str:
    """Returns a text with other names of files and of the cell. Names in C and OIL remain."""
    files = rf"\b{example}(?=(?:32)?\.(?:oil|c|elf|yaml)\b)"
    before = ("^name: ", "quesh ", "qvctl latency ")
    cells = "|".join(f"(?<={words}){example}" for words in before)
    return re.sub(f"{files}|{cells}", word, text, flags=re.MULTILINE)


def make(folder: Path, example: str) -> list[Path]:
    """Makes the folder. Returns its files. Files, image and cell have the name of the folder, in
    letters that make can read. Raises Refused, and OSError."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refused(f"{folder} exists and is not an empty folder", "give another name")
    word = word_of(folder)
    texts = {
        _renamed(path.name, example, word): _renamed(path.read_text(), example, word)
        for path in sorted((SAMPLES / example).iterdir())
        if path.is_file()
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts]
