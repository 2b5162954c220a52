# SPDX-License-Identifier: GPL-2.0-only
"""Draws a schedule: as a picture (SVG), and for Perfetto and Chrome (JSON).

inmates/erika/oil/trace/draw.py draws the same kind of picture for OSEK. Neither uses the other: a
developer of OSEK applications has qvoil without qvctl, and a machine with cells has qvctl without
qvoil."""

from __future__ import annotations

from html import escape

from .record import dataclass
from .svg import COLOURS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 1200, 180, 20, 40, 28, 18
TICKS = 10


@dataclass(frozen=True)
class Span:
    """A row had the CPU from `begin` to `end`, in microseconds. A faint one is drawn pale."""

    row: str
    what: str
    begin: int
    end: int
    faint: bool


def rows_of(spans: Sequence[Span]) -> list[str]:
    return list(dict.fromkeys(span.row for span in spans))


def svg(spans: Sequence[Span], rows: Sequence[str], title: str) -> str:
    """Returns a picture with a row for each of `rows`. A bar tells its span when pointed at."""
    first, last = min(span.begin for span in spans), max(span.end for span in spans)
    scale = (WIDTH - LEFT - RIGHT) / max(last - first, 1)
    height = TOP + ROW * len(rows) + 10

    def text(x: float, y: float, words: str, anchor: str) -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="sans-serif" font-size="11"><title>{escape(title)}</title>',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for tick in range(TICKS + 1):
        x = LEFT + (WIDTH - LEFT - RIGHT) * tick / TICKS
        parts.append(f'<path d="M{x:.1f} {TOP - 6}V{height - 8}" stroke="#e4e4e4"/>')
        parts.append(text(x, TOP - 12, f"{first + (last - first) * tick / TICKS:.0f} us", "middle"))
    place = {row: TOP + ROW * at for at, row in enumerate(rows)}
    colour = {row: COLOURS[at % len(COLOURS)] for at, row in enumerate(rows)}
    parts += [text(LEFT - 8, y + 14, row, "end") for row, y in place.items()]
    for span in spans:
        x, width = LEFT + (span.begin - first) * scale, max((span.end - span.begin) * scale, 0.5)
        pale = ' opacity="0.35"' if span.faint else ""
        parts.append(
            f'<rect x="{x:.2f}" y="{place[span.row] + 1}" width="{width:.2f}" height="{BAR}" fill="{colour[span.row]}"{pale}>'
            f"<title>{escape(span.what)}: {span.begin} to {span.end} us</title></rect>"
        )
    return "\n".join((*parts, "</svg>", ""))


def chrome(spans: Sequence[Span], rows: Sequence[str], process: str) -> dict[str, Any]:
    """Returns the events of Chrome's trace format, which Perfetto reads. Times are in us."""
    numbers = {row: number for number, row in enumerate(rows, 1)}
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": process}}
    ]
    for row, number in numbers.items():
        events.append(
            {"ph": "M", "name": "thread_name", "pid": 1, "tid": number, "args": {"name": row}}
        )
        events.append(
            {
                "ph": "M",
                "name": "thread_sort_index",
                "pid": 1,
                "tid": number,
                "args": {"sort_index": number},
            }
        )
    events += [
        {
            "ph": "X",
            "name": span.what,
            "cat": "background" if span.faint else "budget",
            "pid": 1,
            "tid": numbers[span.row],
            "ts": span.begin,
            "dur": span.end - span.begin,
        }
        for span in spans
    ]
    return {"traceEvents": events, "displayTimeUnit": "ns"}
