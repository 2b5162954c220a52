# SPDX-License-Identifier: GPL-2.0-only
"""How results reach the person, or, with --json, the program."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def as_json(data: Any) -> None:
    """One JSON document on one line, at once."""
    import json

    sys.stdout.write(json.dumps(data, ensure_ascii=True) + "\n")
    sys.stdout.flush()


def line(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


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
