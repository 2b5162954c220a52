# SPDX-License-Identifier: GPL-2.0-only
"""The masks of events."""

from __future__ import annotations

from ..check import Checked
from ..model import MOST_EVENTS
from ..problems import Problems


def masks(checked: Checked, problems: Problems) -> dict[str, int]:
    """Returns the mask of each event. Two events of one task have no bit in common."""
    items = checked.of("EVENT")
    found = {
        name: mask
        for name, item in items.items()
        if (mask := item.values.number("MASK")) is not None
    }
    users = {
        name: [task for task in checked.of("TASK").values() if name in task.values.texts("EVENT")]
        for name in items
    }
    _check_given(checked, found, problems)
    for name, item in items.items():
        if name in found:
            continue
        taken = 0
        for task in users[name]:
            for other in task.values.texts("EVENT"):
                taken |= found.get(other, 0)
        free = [bit for bit in range(MOST_EVENTS) if not taken >> bit & 1]
        if not free:
            problems.error(
                item.place,
                f"EVENT {name}: no bit is free for it in the tasks that have it",
                f"at most {MOST_EVENTS} events",
            )
        found[name] = 1 << (free or [0])[0]
    return found


def _check_given(checked: Checked, found: dict[str, int], problems: Problems) -> None:
    """Checks the masks that the file gives."""
    for name, mask in found.items():
        if not mask:
            problems.error(
                checked.of("EVENT")[name].values.place_of("MASK"),
                f"EVENT {name}: a mask of 0 has no bit",
                "AUTO, or a bit such as 0x1",
            )
    for task in checked.of("TASK").values():
        taken: dict[int, str] = {}
        for value in task.values.many("EVENT"):
            name = str(value.value)
            both = [
                other
                for mask, other in taken.items()
                if mask & found.get(name, 0) and other != name
            ]
            if both:
                problems.error(
                    value.place,
                    f"TASK {task.name}: the events {both[0]} and {name} share a bit",
                    "MASK = AUTO",
                )
            if name in found:
                taken[found[name]] = name
