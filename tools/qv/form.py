# SPDX-License-Identifier: GPL-2.0-only
"""The fields of an item, by the letters of Python's struct, and their values in words."""

from __future__ import annotations

import math
import re
import struct

from .words import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FIELD = re.compile(r"([0-9]*)([a-zA-Z?])")
TEXTS, FLOATS = "csp", "efd"
MOST = 16 << 20  # bytes: more than any item has
YES, NO = ("1", "true", "yes"), ("0", "false", "no")


def _value(letter: str, word: str) -> Any:
    if letter in TEXTS:
        return word.encode()
    if letter in FLOATS:
        return float(word)
    if letter == "?":
        if word.lower() not in YES + NO:
            raise ValueError
        return word.lower() in YES
    return int(word, 0)


def _plain(value: Any) -> Any:
    """Returns a value for JSON: bytes as text, without the zeros that fill them up, and as text the
    numbers that JSON does not have: nan, inf."""
    if isinstance(value, bytes):
        return value.rstrip(b"\0").decode("utf-8", "backslashreplace")
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


class Form:
    """A format. Raises ValueError if struct does not know it, or if it has no value."""

    def __init__(self, text: str) -> None:
        try:
            self._struct = struct.Struct(text)
        except struct.error:
            raise ValueError from None
        self.text, self.size = text, self._struct.size
        if self.size > MOST:
            raise ValueError
        # the letter of each value
        self._letters = ""
        for count, letter in FIELD.findall(text):
            self._letters += letter if letter in "sp" else letter * int(count or 1)
        self._letters = self._letters.replace("x", "")
        if not self._letters:
            raise ValueError

    def pack(self, words: Sequence[str]) -> bytes:
        """Returns the bytes of the values. Raises ValueError with a sentence."""
        if len(words) != len(self._letters):
            raise ValueError(
                f"the format {self.text} has {number(len(self._letters), 'value')}, "
                f"the text {len(words)}"
            )
        values = []
        for place, (letter, word) in enumerate(zip(self._letters, words), 1):
            try:
                values.append(_value(letter, word))
                self._try(letter, values[-1])
            except (ValueError, struct.error, OverflowError):
                raise ValueError(f"value {place}, `{word}`, does not fit `{letter}`") from None
        return self._struct.pack(*values)

    def _try(self, letter: str, value: Any) -> None:
        """struct says for the whole only that a value does not fit."""
        order = self.text[:1] if self.text[:1] in "@=<>!" else ""
        if letter not in "sp":
            struct.pack(order + letter, value)

    def values(self, data: bytes) -> list[Any] | None:
        """Returns the values of an item; None if it is too short."""
        if len(data) < self.size:
            return None
        return [_plain(value) for value in self._struct.unpack_from(data)]
