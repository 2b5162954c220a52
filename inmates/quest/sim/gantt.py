# SPDX-License-Identifier: GPL-2.0-only
"""Schedules as pictures: a Gantt chart in SVG, a row for each VCPU."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from simulate import Segment

LEFT, RIGHT, TOP, ROW, BAR = 110, 20, 40, 54, 24
WIDTH = 1100
COLOURS = ["#3b6fb6", "#c8553d", "#4d9a6a", "#8a5fb0", "#b8892b", "#3a9aa8", "#a84d7d", "#6d6d6d"]
INK, PALE = "#222", "#ccc"
Queue = list[tuple[int, list[tuple[int, int]]]]


def step_of(length: int) -> int:
    """Returns the distance between two marks of the axis: 1, 2 or 5 times a power of ten, so that
    there are 20 marks at most."""
    power = 1
    while True:
        for step in (power, 2 * power, 5 * power):
            if length <= 20 * step:
                return step
        power *= 10


class Chart:
    """Collects the lines of an SVG file."""

    def __init__(self, names: Sequence[str], begin: int, end: int, unit: str, title: str,
                 arrows: bool):
        self.names, self.begin, self.end = names, begin, end
        self.height = TOP + ROW * len(names) + 46
        self.lines = [
            '<!-- SPDX-License-Identifier: GPL-2.0-only -->',
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
            f'font-family="sans-serif" font-size="12" fill="{INK}">',
            f'<rect width="{WIDTH}" height="{self.height}" fill="white"/>',
            f'<text x="{LEFT}" y="22" font-size="15">{escape(title)}</text>']
        self._axis(unit, arrows)
        for i, name in enumerate(names):
            self._text(LEFT - 8, self._base(i) - 7, name, "end")

    def _x(self, time: int) -> float:
        length = max(1, self.end - self.begin)
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (time - self.begin) / length, 2)

    def _base(self, row: int) -> int:
        return TOP + ROW * (row + 1)

    def _line(self, x1: float, y1: float, x2: float, y2: float, colour: str, more: str = "") -> None:
        self.lines.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}"{more}/>')

    def _text(self, x: float, y: float, text: str, anchor: str = "middle", size: int = 12) -> None:
        self.lines.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>')

    def _axis(self, unit: str, arrows: bool) -> None:
        bottom = self._base(len(self.names) - 1)
        step = step_of(self.end - self.begin)
        for t in range(-(-self.begin // step) * step, self.end + 1, step):
            self._line(self._x(t), TOP, self._x(t), bottom + 4, PALE)
            self._text(self._x(t), bottom + 18, str(t))
        self._text(WIDTH - RIGHT, bottom + 38, f"time{f' ({unit})' if unit else ''}; pale: in the background"
                   f"{'; arrows: replenishments, with their amounts' if arrows else ''}", "end")
        for i in range(len(self.names)):
            self._line(LEFT, self._base(i), WIDTH - RIGHT, self._base(i), INK)

    def segment(self, s: Segment) -> None:
        begin, end = max(s.begin, self.begin), min(s.end, self.end)
        if begin >= end or s.vcpu >= len(self.names):
            return
        x, width = self._x(begin), round(self._x(end) - self._x(begin), 2)
        look = f'fill="{COLOURS[s.vcpu % len(COLOURS)]}"' + (' fill-opacity="0.25"' if s.background else "")
        self.lines.append(f'<rect x="{x}" y="{self._base(s.vcpu) - BAR}" width="{width}" height="{BAR}" {look}>'
                          f"<title>{escape(s.thread)} {s.begin}..{s.end}</title></rect>")

    def replenishment(self, row: int, time: int, amount: int) -> None:
        if not self.begin < time <= self.end:
            return
        x, top = self._x(time), self._base(row) - BAR - 12
        self._line(x, self._base(row), x, top, INK)
        self.lines.append(f'<path d="M{x - 3} {top + 5}L{x} {top}L{x + 3} {top + 5}" fill="none" stroke="{INK}"/>')
        self._text(x, top - 3, str(amount), size=9)

    def done(self) -> str:
        return "\n".join([*self.lines, "</svg>", ""])


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
    """Returns the chart of the times [begin, end)."""
    chart = Chart(names, begin, end, unit, title, queues is not None)
    for s in segments:
        chart.segment(s)
    for row, queue in (queues or {}).items():
        for time, amount in came_back(queue):
            chart.replenishment(row, time, amount)
    return chart.done()


def save(path: str, picture: str) -> int:
    """Writes a picture. Returns the exit status: if the file cannot be written, prints the error
    and returns 1."""
    try:
        Path(path).write_text(picture, encoding="utf-8")
    except OSError as e:
        print(f"{path}: cannot be written: {e.strerror}", file=sys.stderr)
        return 1
    return 0
