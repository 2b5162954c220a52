# SPDX-License-Identifier: GPL-2.0-only
"""Draws a trace: as a picture (SVG), and for Perfetto and Chrome (JSON).

tools/qv/timeline.py draws the same kind of picture for Quest. Neither uses the other: a developer
of OSEK applications has qvoil without qvctl, and a machine with cells has qvctl without qvoil."""

from __future__ import annotations

import html
import json
from typing import Any

from .replay import Replay

WIDTH, LEFT, ROW, TOP = 1200, 180, 24, 40
COLOURS = {
    "running": "#2a7de1",
    "ready": "#f3c969",
    "waiting": "#d9d9d9",
    "runs": "#c23b50",
    "taken": "#3a9d5d"
}
MEANINGS = {
    "running": "task runs",
    "ready": "task is ready",
    "waiting": "task waits",
    "runs": "ISR runs",
    "taken": "resource is taken"
}
TICKS = 10


def rows(found: Replay) -> list[str]:
    """Returns the rows that have a span or a mark: ISRs, tasks from the most urgent, resources."""
    objects = found.objects
    isrs = sorted([*objects.isrs, objects.system_timer], key=lambda isr: -isr.level)
    tasks = sorted(objects.tasks, key=lambda task: -task.level)
    order = [f"ISR {isr.name}" for isr in isrs]
    order += [task.name for task in tasks]
    order += [f"resource {resource.name}" for resource in objects.resources]
    used = {span.row for span in found.spans} | {mark.row for mark in found.marks}
    return [row for row in order if row in used]


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>'


def svg(found: Replay, begin: float, end: float) -> str:
    """Returns the picture of the time from `begin` to `end`, in microseconds since the first
    record."""
    listed = rows(found)
    places = {row: TOP + number * ROW for number, row in enumerate(listed)}
    height = TOP + ROW * len(listed) + 60
    scale = (WIDTH - LEFT - 20) / max(end - begin, 1e-9)
    unit = "us" if found.log.khz else "cycles"

    def at(time: int) -> float:
        return LEFT + (min(max(found.log.microseconds(time), begin), end) - begin) * scale

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>'
    ]
    for tick in range(TICKS + 1):
        moment = begin + (end - begin) * tick / TICKS
        x = LEFT + (moment - begin) * scale
        parts.append(f'<path d="M{x:.1f} {TOP - 6}V{height - 50}" stroke="#eeeeee"/>')
        parts.append(_text(x, TOP - 12, f"{moment:.0f} {unit}", "middle"))
    for row, y in places.items():
        parts.append(_text(LEFT - 8, y + 14, row, "end"))
    for span in found.spans:
        if found.log.microseconds(span.end) < begin or found.log.microseconds(span.begin) > end:
            continue
        x, y = at(span.begin), places[span.row]
        width, high = max(at(span.end) - x, 0.5), 14 if span.what != "ready" else 8
        parts.append(f'<rect x="{x:.2f}" y="{y + 17 - high}" width="{width:.2f}" height="{high}" '
                     f'fill="{COLOURS[span.what]}"><title>{html.escape(span.row)}: {span.what}'
                     '</title></rect>')
    for mark in found.marks:
        if mark.row in places and begin <= found.log.microseconds(mark.time) <= end:
            x, y = at(mark.time), places[mark.row]
            parts.append(f'<path d="M{x:.2f} {y}v17" stroke="#333333"><title>'
                         f'{html.escape(mark.what)}</title></path>')
    for number, (what, meaning) in enumerate(MEANINGS.items()):
        x = LEFT + number * 150
        parts.append(f'<rect x="{x}" y="{height - 34}" width="14" height="14" '
                     f'fill="{COLOURS[what]}"/>')
        parts.append(_text(x + 20, height - 23, meaning))
    return "\n".join((*parts, "</svg>", ""))


def perfetto(found: Replay) -> str:
    """Returns the events of Chrome's trace format, which Perfetto reads. Times are in us."""
    numbers = {row: number for number, row in enumerate(rows(found), 1)}
    events: list[dict[str, Any]] = [{
        "ph": "M",
        "name": "thread_name",
        "pid": 1,
        "tid": number,
        "args": {
            "name": row
        }
    } for row, number in numbers.items()]
    events += [{
        "ph": "M",
        "name": "thread_sort_index",
        "pid": 1,
        "tid": number,
        "args": {
            "sort_index": number
        }
    } for number in numbers.values()]
    for span in found.spans:
        begin = found.log.microseconds(span.begin)
        events.append({
            "ph": "X",
            "name": span.what,
            "pid": 1,
            "tid": numbers[span.row],
            "ts": begin,
            "dur": found.log.microseconds(span.end) - begin
        })
    for mark in found.marks:
        events.append({
            "ph": "i",
            "name": mark.what,
            "pid": 1,
            "tid": numbers.get(mark.row, 0),
            "ts": found.log.microseconds(mark.time),
            "s": "t" if mark.row in numbers else "p"
        })
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}) + "\n"
