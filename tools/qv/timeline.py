# SPDX-License-Identifier: GPL-2.0-only
"""Draws a schedule: as a picture (SVG), and for Perfetto and Chrome (JSON).

qvctl, qvoil and the simulator of Quest's scheduler draw by this module. qvoil is installed without
qvctl, so inmates/erika/oil/trace/timeline.py is a link to this file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2")
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1200, 180, 30, 48, 34
ROW, BAR, ARROW = 36, 18, 24  # heights of a row, of a bar, and of the arrow of a mark
TICKS = 12  # most marks of the axis
LEGEND = 170  # width of an entry
INK, PALE = "#222", "#e4e4e4"


@dataclass(frozen=True)
class Look:
    """How spans of a kind are drawn. Without a colour they have that of their row."""

    meaning: str
    colour: str = ""
    opacity: float = 1
    height: int = BAR


@dataclass(frozen=True)
class Span:
    """A row had the CPU, or was in a state, from `begin` to `end`. `kind` names its look."""

    row: str
    what: str
    begin: float
    end: float
    kind: str


@dataclass(frozen=True)
class Mark:
    """An event of a row, or of no row if `row` is empty. The picture shows its label."""

    row: str
    what: str
    time: float
    label: str = ""


@dataclass(frozen=True)
class Schedule:
    """Spans of other rows than `rows` are not drawn. `arrows` is the meaning of the marks."""

    title: str
    rows: Sequence[str]
    looks: Mapping[str, Look]
    spans: Sequence[Span]
    marks: Sequence[Mark] = ()
    arrows: str = ""
    unit: str = "us"


QUEST = {"budget": Look("uses its budget"), "background": Look("in the background", opacity=0.3)}


def number(value: float) -> str:
    """Returns a time with three digits after the point at most."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def step_of(length: float) -> float:
    """Returns the distance between two marks of the axis: 1, 2 or 5 times a power of ten."""
    power = 1
    while True:
        for step in (power, 2 * power, 5 * power):
            if length <= TICKS * step:
                return step
        power *= 10


def _text(x: float, y: float, words: str, anchor: str = "middle", size: int = 11) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">'
        f"{escape(words)}</text>"
    )


class _Picture:
    def __init__(self, schedule: Schedule, begin: float, end: float) -> None:
        self.schedule, self.begin, self.end = schedule, begin, end
        self.height = TOP + ROW * len(schedule.rows) + BOTTOM
        self.base = {row: TOP + ROW * (at + 1) for at, row in enumerate(schedule.rows)}
        self.colour = {row: COLOURS[at % len(COLOURS)] for at, row in enumerate(schedule.rows)}

    def x(self, time: float) -> float:
        inside = min(max(time, self.begin), self.end) - self.begin
        return LEFT + (WIDTH - LEFT - RIGHT) * inside / max(self.end - self.begin, 1e-9)

    def axis(self) -> list[str]:
        bottom, step = TOP + ROW * len(self.schedule.rows), step_of(self.end - self.begin)
        parts = [_text(LEFT, 16, self.schedule.title, "start", 14)]
        for at in range(math.ceil(self.begin / step), math.floor(self.end / step) + 1):
            x = self.x(at * step)
            parts.append(f'<path d="M{x:.1f} {TOP - 6}V{bottom + 4}" stroke="{PALE}"/>')
            parts.append(_text(x, TOP - 12, f"{number(at * step)} {self.schedule.unit}".rstrip()))
        for row, base in self.base.items():
            parts.append(f'<path d="M{LEFT} {base}H{WIDTH - RIGHT}" stroke="{INK}"/>')
            parts.append(_text(LEFT - 8, base - 5, row, "end"))
        return parts

    def bar(self, span: Span) -> str:
        look, base = self.schedule.looks[span.kind], self.base[span.row]
        x, width = self.x(span.begin), max(self.x(span.end) - self.x(span.begin), 0.5)
        pale = f' opacity="{look.opacity}"' if look.opacity < 1 else ""
        times = f"{number(span.begin)} to {number(span.end)} {self.schedule.unit}".rstrip()
        return (
            f'<rect x="{x:.2f}" y="{base - look.height}" width="{width:.2f}" '
            f'height="{look.height}" fill="{look.colour or self.colour[span.row]}"{pale}>'
            f"<title>{escape(f'{span.row}: {span.what}, {times}')}</title></rect>"
        )

    def arrow(self, mark: Mark) -> str:
        x, base = self.x(mark.time), self.base[mark.row]
        top = base - ARROW
        label = _text(x, top - 2, mark.label, size=9) if mark.label else ""
        return (
            f'<path d="M{x:.2f} {base}V{top}m-3 5l3 -5l3 5" fill="none" stroke="{INK}">'
            f"<title>{escape(mark.what)}</title></path>{label}"
        )

    def legend(self) -> list[str]:
        parts, y = [], self.height - 12
        for at, look in enumerate(self.schedule.looks.values()):
            x = LEFT + LEGEND * at
            parts.append(
                f'<circle cx="{x + 6}" cy="{y - 4}" r="6" fill="{look.colour or INK}" '
                f'opacity="{look.opacity}"/>'
            )
            parts.append(_text(x + 18, y, look.meaning, "start"))
        if self.schedule.arrows:
            parts.append(_text(WIDTH - RIGHT, y, f"arrows: {self.schedule.arrows}", "end"))
        return parts


def svg(schedule: Schedule, begin: float | None = None, end: float | None = None) -> str:
    """Returns the picture of the time from `begin` to `end`, by default of all spans. A bar tells
    its span when pointed at."""
    first = min((span.begin for span in schedule.spans), default=0) if begin is None else begin
    last = max((span.end for span in schedule.spans), default=0) if end is None else end
    picture = _Picture(schedule, first, last)
    return "\n".join(
        (
            "<!-- SPDX-License-Identifier: GPL-2.0-only -->",
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {picture.height}" '
            f'width="{WIDTH}" height="{picture.height}" font-family="sans-serif" fill="{INK}">',
            f'<rect width="{WIDTH}" height="{picture.height}" fill="white"/>',
            *picture.axis(),
            *(
                picture.bar(span)
                for span in schedule.spans
                if span.row in picture.base
                and (
                    first <= span.begin <= span.end <= last
                    or span.begin < last
                    and span.end > first
                )
            ),
            *(
                picture.arrow(mark)
                for mark in schedule.marks
                if mark.row in picture.base and first <= mark.time <= last
            ),
            *picture.legend(),
            "</svg>",
            "",
        )
    )


def chrome(schedule: Schedule) -> dict[str, Any]:
    """Returns the events of Chrome's trace format, which Perfetto reads. Times are in us."""
    rows = {row: at for at, row in enumerate(schedule.rows, 1)}
    names: list[tuple[str, int, dict[str, object]]] = [
        ("process_name", 0, {"name": schedule.title})
    ]
    for row, at in rows.items():
        names += [("thread_name", at, {"name": row}), ("thread_sort_index", at, {"sort_index": at})]
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": name, "pid": 1, "tid": at, "args": args} for name, at, args in names
    ]
    events += [
        {
            "ph": "X",
            "name": span.what,
            "cat": span.kind,
            "pid": 1,
            "tid": rows[span.row],
            "ts": span.begin,
            "dur": span.end - span.begin,
        }
        for span in schedule.spans
        if span.row in rows
    ]
    events += [
        {
            "ph": "i",
            "name": mark.what,
            "pid": 1,
            "tid": rows.get(mark.row, 0),
            "ts": mark.time,
            "s": "t" if mark.row in rows else "p",
        }
        for mark in schedule.marks
    ]
    return {"traceEvents": events, "displayTimeUnit": "ns"}
