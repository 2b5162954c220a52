# SPDX-License-Identifier: GPL-2.0-only
"""The files of `qvctl channel record` and `replay`: a line of JSON for each item."""

from __future__ import annotations

import json
import os
import stat

from ..errors import Refused, WrongUsage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

LONGEST = 1e9  # seconds: longer than any record


class Recording:
    """A file that gets a record. Its contents stay until the first item comes, so a channel that
    gives none costs no earlier record. Each line is written at once, since a signal may end the
    program."""

    def __init__(self, path: str) -> None:
        self._path, self._begun = path, False
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
            self._file = os.open(path, flags, 0o666)
        except OSError as error:
            raise self._refused(error) from None

    def _refused(self, error: OSError) -> Refused:
        return Refused(
            f"{self._path}: {(error.strerror or 'error').lower()}",
            "name a file that can be written",
        )

    def add(self, line: dict[str, Any]) -> None:
        left = (json.dumps(line) + "\n").encode()
        try:
            if not self._begun and stat.S_ISREG(os.fstat(self._file).st_mode):
                os.ftruncate(self._file, 0)
            self._begun = True
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            raise self._refused(error) from None

    def close(self) -> None:
        os.close(self._file)


def lines(channel: dict[str, Any], file: BinaryIO) -> Iterator[tuple[int, float, bytes]]:
    """The number, time and bytes of each line of a record. The bytes fill an item."""
    for number, line in enumerate(file, 1):
        try:
            found = json.loads(line)
            seconds, data = float(found["seconds"]), bytes.fromhex(found["hex"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise WrongUsage(f"line {number} is no line of 'qvctl channel record'") from None
        if not 0 <= seconds <= LONGEST:
            raise WrongUsage(f"line {number} has {seconds:g} seconds, not 0 to {LONGEST:g}")
        if len(data) > channel["item"] or (
            channel["type"] != "mailbox" and len(data) < channel["item"]
        ):
            raise WrongUsage(
                f"line {number} has {len(data)} bytes, an item of {channel['name']} has "
                f"{channel['item']}"
            )
        yield number, seconds, data


def check(channel: dict[str, Any], file: BinaryIO) -> None:
    """Reads all lines of a file that can be read twice, before the first item is written."""
    if file.seekable():
        for _ in lines(channel, file):
            pass
        file.seek(0)
