# SPDX-License-Identifier: GPL-2.0-only
"""Tasks, and the levels that order them."""

from __future__ import annotations

from ..check import Checked, Item
from ..model import (
    DEFAULT_STACK,
    MOST_ACTIVATIONS,
    MOST_EVENTS,
    MOST_GUARDED,
    MOST_STACK,
    PAGE,
    TASK_LEVELS,
    Task,
)
from ..problems import Problems
from .system import chosen_modes, os_values


def tasks(checked: Checked, modes: list[str], problems: Problems) -> list[Task]:
    found = [_task(item, modes, problems) for item in checked.of("TASK").values()]
    priorities = sorted({task.priority for task in found})
    if len(priorities) > TASK_LEVELS:
        place = next(
            item.values.place_of("PRIORITY")
            for item in checked.of("TASK").values()
            if item.values.number("PRIORITY") == priorities[TASK_LEVELS]
        )
        problems.error(place, f"there are more than {TASK_LEVELS} different priorities of tasks")
    _check_activations(checked, found, problems)
    _check_stacks(checked, found, problems)
    return found


def _check_activations(checked: Checked, found: list[Task], problems: Problems) -> None:
    """Checks that the activations of each priority fit into its queue."""
    together: dict[int, int] = {}
    for task in found:
        before = together.get(task.priority, 0)
        together[task.priority] = before + task.activations
        if before <= MOST_ACTIVATIONS < together[task.priority]:
            problems.error(
                checked.of("TASK")[task.name].values.place_of("ACTIVATION"),
                f"TASK {task.name}: the tasks of PRIORITY {task.priority} have more than "
                f"{MOST_ACTIVATIONS} activations together",
            )


def _check_stacks(checked: Checked, found: list[Task], problems: Problems) -> None:
    """Checks that the kernel can guard all stacks: a few of any size, or many small ones."""
    sizes = [task.stack for task in found] + [os_values(checked).number("ISRSTACKSIZE") or 0]
    total = sum(-(-size // PAGE) * PAGE + PAGE for size in sizes)
    if len(sizes) > MOST_GUARDED and total > MOST_STACK:
        largest = max(found, key=lambda task: task.stack)
        problems.error(
            checked.of("TASK")[largest.name].place,
            f"TASK {largest.name}: it has the largest of {len(sizes)} stacks, which have "
            f"{-(-total >> 20)} MiB together",
            f"at most {MOST_STACK >> 20} MiB",
        )


def _task(item: Item, modes: list[str], problems: Problems) -> Task:
    values = item.values
    activations = values.number("ACTIVATION") or 1
    events = list(dict.fromkeys(values.texts("EVENT")))
    if events and activations > 1:
        problems.error(
            values.place_of("ACTIVATION"),
            f"TASK {item.name}: a task with events has one activation at a time",
            "ACTIVATION = 1",
        )
    if len(events) > MOST_EVENTS:
        problems.error(
            values.place_of("EVENT"),
            f"TASK {item.name}: it has {len(events)} events",
            f"at most {MOST_EVENTS}",
        )
    started = values.truth("AUTOSTART")
    private = values.inside("STACK")
    stack = (
        values.number("STACKSIZE")
        or max(private.number("SIZE") or 0, private.number("SYS_SIZE") or 0)
        or DEFAULT_STACK
    )
    return Task(
        item.name,
        values.number("PRIORITY") or 0,
        values.text("SCHEDULE") != "NON",
        activations,
        chosen_modes(values.inside("AUTOSTART"), modes) if started else [],
        events,
        list(dict.fromkeys(values.texts("RESOURCE"))),
        stack,
    )


def give_levels(found: list[Task], internal: dict[str, list[str]]) -> None:
    """Sets the levels: the priorities in their order without gaps, from 1. A task runs at the
    highest level of those that share its internal resource; one with SCHEDULE = NON at the
    highest."""
    order = {
        priority: level
        for level, priority in enumerate(sorted({task.priority for task in found}), 1)
    }
    for task in found:
        task.level = order[task.priority]
    by_name = {task.name: task.level for task in found}
    top = max(by_name.values(), default=0)
    for task in found:
        groups = [users for users in internal.values() if task.name in users]
        together = max((by_name[name] for users in groups for name in users), default=task.level)
        task.run_level = together if task.preemptable else top
