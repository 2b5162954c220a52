# SPDX-License-Identifier: GPL-2.0-only
"""Seed files: the inputs that a fuzzer starts from, one per line.

A line is an input in hex, or a text in quotes with the escapes of Python; `#` starts a comment line.
`run` unpacks a seed file into a folder, since libFuzzer reads one file per input.
"""

import ast
import hashlib
from collections.abc import Iterable
from pathlib import Path

HEAD = "# SPDX-License-Identifier: GPL-2.0-only\n# One input per line, shortest first: see tests/fuzz/seeds.py\n"


def _line(data: bytes, text: bool) -> str:
    """One input. An empty one needs the quotes."""
    return repr(data)[1:] if text or not data else data.hex()


def _input(line: str) -> bytes:
    return ast.literal_eval("b" + line) if line[0] in "'\"" else bytes.fromhex(line)


def read(path: Path) -> list[bytes]:
    """The inputs of a seed file; none if there is no such file."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="ascii").splitlines()
    return [_input(line) for line in lines if line and not line.startswith("#")]


def write(path: Path, inputs: Iterable[bytes], text: bool = False) -> None:
    """The same inputs in any order give the same file. @text: write them as text, not in hex."""
    ordered = sorted(set(inputs), key=lambda data: (len(data), data))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + "".join(f"{_line(data, text)}\n" for data in ordered), encoding="ascii")


def unpack(path: Path, folder: Path) -> None:
    """The folder has one file per input, and no other files."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for data in read(path):
        (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
