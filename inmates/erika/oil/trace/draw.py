# SPDX-License-Identifier: GPL-2.0-only
"""A trace as a schedule, which timeline.py draws."""

from __future__ import annotations

from .replay import Replay
from .timeline import Look, Mark, Schedule, Span

LOOKS = {
    "running": Look("task runs", "#2a7de1"),
    "ready": Look("task is ready", "#f3c969", height=10),
    "waiting": Look("task waits", "#d9d9d9"),
    "runs": Look("ISR runs", "#c23b50"),
    "taken": Look("resource is taken", "#3a9d5d"),
}


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


def schedule(found: Replay, title: str) -> Schedule:
    """Returns the schedule, with times in microseconds since the first record."""
    at = found.log.microseconds
    return Schedule(
        title,
        rows(found),
        LOOKS,
        [Span(s.row, s.what, at(s.begin), at(s.end), s.what) for s in found.spans],
        [Mark(m.row, m.what, at(m.time)) for m in found.marks],
        unit="us" if found.log.khz else "cycles",
    )
