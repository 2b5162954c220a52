# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell edit: changes the file of a cell, which is checked before it replaces the old one."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from itertools import dropwhile

from .. import config, dropin, order, output
from ..errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..keys import CellConfig
    from ..problems import Problem
    from ..system import System
    from .command import Arguments

NOTE = "#!! "  # begins a line that tells a problem; these lines are taken away again


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read()
    except OSError as error:
        raise Refused(
            f"{path} cannot be read ({(error.strerror or 'error').lower()})",
            "write it first; qvctl cell export NAME prints the file of a cell that exists",
        ) from None


def _ask(copy: str, typed: bool) -> None:
    """Runs the editor. `typed` says that the copy is no longer the text of the file."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "sensible-editor"
    try:
        status = subprocess.run([*shlex.split(editor), copy], check=False).returncode
    except (OSError, ValueError):
        if not typed:
            os.unlink(copy)
        raise Refused(
            f"the editor `{editor}` cannot be started",
            "set EDITOR to an editor that is installed"
            + (f"; your text is in {copy}" if typed else ""),
        ) from None
    if status:
        raise Refused(
            f"the editor `{editor}` ended with status {status}, so nothing is changed",
            f"your text is in {copy}",
        )


def _without_notes(copy: str) -> str:
    """Returns the text without the notes, which are its first lines that begin so."""
    lines = _read(copy).splitlines(keepends=True)
    return "".join(dropwhile(lambda line: line.startswith(NOTE), lines))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def _wrong(cell: CellConfig, problems: list[Problem], name: str, below: int) -> list[str]:
    """Returns the problems of a text that has so many lines above it."""
    if not problems:
        return (
            [] if cell.name == name else [f"name: the cell of this file is {name}, not {cell.name}"]
        )
    return [
        f"line {problem.place.line + below}, column {problem.place.column}: {problem.key}: "
        f"{problem.wrong} ({problem.right})"
        for problem in problems
    ]


def _edited(copy: str, name: str, system: System) -> CellConfig:
    """Lets the person edit the copy until it is right. A wrong text is shown again with its
    problems, and nothing that was typed is lost."""
    noted = ""
    while True:
        _ask(copy, bool(noted))
        text = _without_notes(copy)
        cells, problems = _check(copy, text, system)
        wrong = _wrong(cells[0], problems, name, len(problems))
        if not wrong:
            return cells[0]
        if text == noted:
            first = _wrong(cells[0], problems, name, 0)[0]
            raise Refused(
                f"the text is still wrong, so nothing is changed: {first}",
                f"your text is in {copy}",
            )
        noted = text
        _write(copy, "".join(f"{NOTE}{line}\n" for line in wrong) + text)


def _check(copy: str, text: str, system: System) -> tuple[list[CellConfig], list[Problem]]:
    _write(copy, text)
    return config.check_files([copy], system.running().with_all_memory())


def _replace(file: str, copy: str, before: str) -> None:
    """Puts the copy in the place of the file, with the owner and the mode of the file."""
    if not os.path.exists(file) or _read(file) != before:
        raise Refused(
            f"{file} was changed meanwhile, so it is left alone", f"your text is in {copy}"
        )
    was = os.stat(file)
    os.chown(copy, was.st_uid, was.st_gid)
    os.chmod(copy, was.st_mode & 0o7777)
    os.rename(copy, file)


def edit(args: Arguments, system: System) -> int:
    file = os.path.realpath(dropin.file_of(system.root, args.name))
    before = _read(file)
    try:
        # in the same folder, so that a relative path of an image means the same
        handle, copy = tempfile.mkstemp(
            prefix=f".{args.name}-", suffix=".edit", dir=os.path.dirname(file)
        )
    except OSError as error:
        raise Refused(
            f"{os.path.dirname(file)} cannot be written ({(error.strerror or 'error').lower()})",
            "run it as root",
        ) from None
    os.close(handle)
    try:
        _write(copy, before)
        cell = _edited(copy, args.name, system)
        changed = _read(copy) != before
        if changed:
            _replace(file, copy, before)
        else:
            os.unlink(copy)
    except OSError as error:
        raise Refused(
            f"{file} cannot be changed ({(error.strerror or 'error').lower()})",
            f"your text is in {copy}",
        ) from None
    if changed and dropin.is_enabled(system.root, args.name):
        described = order.described(system.root, system.running().with_all_memory())
        if dropin.write(system.root, cell, order.writers(cell, described)):
            system.systemctl("daemon-reload")
    if args.json:
        output.as_json({"name": args.name, "file": file, "changed": changed})
    else:
        output.line(
            f"{file} is changed; it counts from the next start on: "
            f"systemctl restart {dropin.unit(args.name)}"
            if changed
            else f"{file} is not changed"
        )
    return 0
