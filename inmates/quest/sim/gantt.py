# SPDX-License-Identifier: GPL-2.0-only
"""Simulated and recorded schedules as pictures, with a row for each VCPU."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[3] / "tools"
sys.path.append(str(TOOLS))

from qv import timeline  # noqa: E402
from simulate import Segment  # noqa: E402

Queue = list[tuple[int, list[tuple[int, int]]]]


def came_back(queue: Queue) -> list[tuple[int, int]]:
    """Returns the times when replenishments became usable, and their amounts, from the recorded
    states of a queue."""
    found: dict[int, int] = {}
    for i, (now, chunks) in enumerate(queue):
        until = queue[i + 1][0] if i + 1 < len(queue) else None
        for t, b in chunks:
            if t > now and (until is None or t <= until):
                found[t] = b
    return sorted(found.items())


def draw(segments: Sequence[Segment], names: Sequence[str], end: int, unit: str = "", title: str = "",
         queues: dict[int, Queue] | None = None, begin: int = 0) -> str:
    """Returns the picture of the times [begin, end)."""
    spans = [timeline.Span(names[s.vcpu], s.thread, s.begin, s.end,
                           "background" if s.background else "budget")
             for s in segments if s.vcpu < len(names)]
    marks = [timeline.Mark(names[row], f"{amount} replenished", time, str(amount))
             for row, queue in (queues or {}).items() for time, amount in came_back(queue)]
    return timeline.svg(timeline.Schedule(
        title, names, timeline.QUEST, spans, marks,
        "replenishments, with their amounts" if marks else "", unit), begin, end)


def save(path: str, picture: str) -> int:
    """Writes a picture. Returns the exit status: if the file cannot be written, prints the error
    and returns 1."""
    try:
        Path(path).write_text(picture, encoding="utf-8")
    except OSError as e:
        print(f"{path}: cannot be written: {e.strerror}", file=sys.stderr)
        return 1
    return 0
