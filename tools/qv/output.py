# SPDX-License-Identifier: GPL-2.0-only
"""How results reach the person, or, with --json, the program."""

from __future__ import annotations

import errno
import os
import sys

from .errors import Failed, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def write(words: str) -> None:
    """To standard output, at once. What was done is done when its words are lost, so that has its own sentence."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "it is closed")
        sys.stdout.write(words)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Refused(f"the output could not be written: {(error.strerror or 'error').lower()}",
                      "see where standard output leads; `qvctl status` and `qvctl cell list` show what was done") from None


def silence() -> None:
    """Standard output takes nothing: what is left of it must not be tried again at the end."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def flush_or_silence() -> None:
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        silence()


def complain(words: str) -> None:
    """To standard error, if that takes it."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(words + "\n")
            sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def fail(error: Failed, json: bool, **more: object) -> int:
    """Says why a command failed; its exit status."""
    if json:
        try:
            as_json({**more, "error": error.data()})
        except (OSError, Failed):
            silence()
    else:
        complain(error.text())
    return error.status


def as_json(data: Any) -> None:
    """One JSON document on one line, at once."""
    import json

    write(json.dumps(data, ensure_ascii=True) + "\n")


def line(words: str) -> None:
    write(words + "\n")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> None:
    """Columns as wide as needed; those in `right` are aligned to the right."""
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    for row in (heads, *rows):
        cells = [text.rjust(width) if i in right else text.ljust(width)
                 for i, (text, width) in enumerate(zip(row, widths))]
        line("  ".join(cells).rstrip())


def duration(nanoseconds: int) -> str:
    """A time span with a unit that suits it: 870 ns, 12.3 us, 4.56 ms, 1.2 s."""
    if nanoseconds < 1000:
        return f"{nanoseconds} ns"
    for factor, unit in ((10**3, "us"), (10**6, "ms")):
        if nanoseconds < 1000 * factor:
            return f"{nanoseconds / factor:.3g} {unit}"
    return f"{nanoseconds / 10**9:.3f} s"
