# SPDX-License-Identifier: GPL-2.0-only
"""The latency page of a cell: histograms that the inmate keeps (struct qv_latency of qv/cell.h)."""

from __future__ import annotations

import struct

from .record import dataclass
from .words import text

MOST, BUCKETS, FIRST, NAME = 15, 24, 8, 32  # QV_LATENCY_*
HEAD = 64  # bytes before the first histogram
FORM = struct.Struct(f"<{NAME}sQQQQ{BUCKETS}Q")


@dataclass(frozen=True)
class Histogram:
    """Times in cycles of the TSC. `counts` has the number of times in each bucket."""

    name: str
    sum: int
    most: int
    least: int
    missed: int  # times beyond their deadline
    counts: list[int]

    def count(self) -> int:
        return sum(self.counts)

    def below(self, share: float) -> int:
        """Returns a time, in cycles, that this share of the times does not exceed: the end of a
        bucket, or the longest time if that is shorter."""
        seen = 0
        for bucket, count in enumerate(self.counts):
            seen += count
            if seen >= share * self.count() and bucket < BUCKETS - 1:
                return min(end(bucket), self.most)
        return self.most


def end(bucket: int) -> int:
    """Returns the time in cycles below which a bucket counts; for the last one, there is no end."""
    return 1 << (FIRST + bucket)


def parse(page: bytes) -> list[Histogram]:
    """Reads a copy of the page, in which the inmate may have written anything."""
    used = min(int.from_bytes(page[:4], "little"), MOST)
    found = []
    for at in range(used):
        raw, total, most, least, missed, *counts = FORM.unpack_from(page, HEAD + at * FORM.size)
        name = text(raw.partition(b"\0")[0]) or f"({at})"
        found.append(Histogram(name, total, most, least, missed, list(counts)))
    return found
