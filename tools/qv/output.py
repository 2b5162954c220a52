# SPDX-License-Identifier: GPL-2.0-only
"""Writes results for a person or, with --json, for a program."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time

from .errors import Failed, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import IO, Any


def write(words: str) -> None:
    """Writes to standard output and flushes it. If the write fails, the command's work is still
    done, so this error has its own sentence."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "it is closed")
        sys.stdout.write(words)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Refused(
            f"the output could not be written: {(error.strerror or 'error').lower()}",
            "see where standard output leads; "
            "`qvctl status` and `qvctl cell list` show what was done",
        ) from None


def silence() -> None:
    """Discards standard output, so that Python does not try to write its buffer again at the
    end."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def flush_or_silence() -> None:
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        silence()


def complain(words: str) -> None:
    """Writes to standard error, if possible."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(words + "\n")
            sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def fail(error: Failed, json: bool, **more: object) -> int:
    """Reports why a command failed. Returns its exit status."""
    if json:
        try:
            as_json({**more, "error": error.data()})
        except (OSError, Failed):
            silence()
    else:
        complain(error.text())
    return error.status


def as_json(data: Any) -> None:
    """Writes `data` as one JSON document on one line, and flushes it."""
    import json

    write(json.dumps(data, ensure_ascii=True) + "\n")


def line(words: str) -> None:
    write(words + "\n")


def save_by(path: str, fill: Callable[[IO[bytes]], None], mode: int | None = None) -> None:
    """Has `fill` write a file aside and renames it, so that a reader never sees a part. It replaces
    only a regular file: no device, pipe or link. Without `mode`, the umask decides who may read
    it."""
    if path == "-":
        raise Refused("- is no name of a file here", "name a file, or ./- for one of this name")
    aside = f"{path}.{os.getpid()}"
    try:
        if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
            raise Refused(f"{path} is no regular file, so it is not replaced", "name a new file")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(aside, flags, 0o666 if mode is None else mode)
        try:
            with open(descriptor, "w+b") as stream:
                if mode is not None:
                    os.fchmod(descriptor, mode)
                fill(stream)
            os.replace(aside, path)
        except BaseException:
            os.unlink(aside)
            raise
    except OSError as error:
        raise Refused(
            f"{path} cannot be written ({(error.strerror or 'error').lower()})",
            "name a file in a folder that you may write to"
            if isinstance(error, PermissionError)
            else "name a file in a folder that exists",
        ) from None


def save(path: str, data: str, mode: int | None = None) -> None:
    """Writes text to a file, as save_by() does."""

    def fill(stream: IO[bytes]) -> None:
        stream.write(data.encode("utf-8", "replace"))

    save_by(path, fill, mode)


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()
) -> None:
    """Prints columns as wide as needed; those in `right` are aligned to the right."""
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    for row in (heads, *rows):
        cells = [
            text.rjust(width) if i in right else text.ljust(width)
            for i, (text, width) in enumerate(zip(row, widths))
        ]
        line("  ".join(cells).rstrip())


def duration(nanoseconds: int) -> str:
    """Returns a time span with a suitable unit: 870 ns, 12.3 us, 4.56 ms, 1.2 s."""
    if nanoseconds < 1000:
        return f"{nanoseconds} ns"
    for factor, unit in ((10**3, "us"), (10**6, "ms")):
        # with three digits, numbers from here on are rounded to 1000
        if nanoseconds < 999.5 * factor:
            return f"{nanoseconds / factor:.3g} {unit}"
    return f"{nanoseconds / 10**9:.3f} s"


def ago(boottime_ns: int) -> str:
    """Returns how long ago a moment of CLOCK_BOOTTIME was."""
    return f"{duration(max(time.clock_gettime_ns(time.CLOCK_BOOTTIME) - boottime_ns, 0))} ago"


def wall_clock(boottime_ns: int) -> str:
    """Returns a moment of CLOCK_BOOTTIME as the clock on the wall shows it."""
    realtime_ns = time.time_ns() - time.clock_gettime_ns(time.CLOCK_BOOTTIME) + boottime_ns
    seconds, rest = divmod(realtime_ns, 10**9)
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
    return f"{when}.{rest // 10**6:03}"
