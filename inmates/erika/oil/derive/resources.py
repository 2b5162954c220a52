# SPDX-License-Identifier: GPL-2.0-only
"""Resources and their ceilings."""

from __future__ import annotations

from ..check import Checked, Value
from ..model import Isr, Resource, Task
from ..problems import Problems

SCHEDULER = "RES_SCHEDULER"


def _property(checked: Checked, name: str) -> str:
    return checked.of("RESOURCE")[name].values.text("RESOURCEPROPERTY")


def internal(checked: Checked, problems: Problems) -> dict[str, list[str]]:
    """Returns the tasks of each internal resource."""
    found: dict[str, list[str]] = {
        name: [] for name in checked.of("RESOURCE") if _property(checked, name) == "INTERNAL"
    }
    for task in checked.of("TASK").values():
        used = [value for value in task.values.many("RESOURCE") if value.value in found]
        if len({value.value for value in used}) > 1:
            problems.error(
                used[1].place, f"TASK {task.name}: it has two internal resources", "one at most"
            )
        for value in used:
            found[str(value.value)].append(task.name)
    for isr in checked.of("ISR").values():
        for value in isr.values.many("RESOURCE"):
            if value.value in found:
                problems.error(
                    value.place, f"ISR {isr.name}: {value.value} is internal, so only tasks have it"
                )
    return found


def linked(checked: Checked, problems: Problems) -> dict[str, str]:
    """Returns the resource that each linked one is a name of, after all links."""
    links: dict[str, Value] = {}
    for name, item in checked.of("RESOURCE").items():
        target = item.values.inside("RESOURCEPROPERTY").get("LINKEDRESOURCE")
        if target:
            links[name] = target
    found: dict[str, str] = {}
    for name, link in links.items():
        at, seen = name, {name}
        while at in links:
            at = str(links[at].value)
            if at in seen:
                problems.error(
                    link.place,
                    f"RESOURCE {name} is linked to itself",
                    "link it to a standard resource",
                )
                break
            seen.add(at)
        if at in checked.of("RESOURCE") and _property(checked, at) == "INTERNAL":
            problems.error(
                link.place, f"RESOURCE {name}: {at} is internal", "link it to a standard resource"
            )
        found[name] = at
    return found


def resources(
    checked: Checked, tasks: list[Task], isrs: list[Isr], problems: Problems
) -> list[Resource]:
    """Returns all resources but internal ones, RES_SCHEDULER first. Linked resources have the
    ceiling of all together."""
    top = max((task.level for task in tasks), default=0)
    found = [Resource(SCHEDULER, top)]
    behind = linked(checked, Problems())
    _check_scheduler(checked, behind, problems)
    users = [(task.level, task.resources) for task in tasks] + [
        (isr.level, isr.resources) for isr in isrs
    ]
    for name, item in checked.of("RESOURCE").items():
        if _property(checked, name) == "INTERNAL" or name == SCHEDULER:
            continue
        levels = [
            level
            for level, used in users
            if any(behind.get(other, other) == behind.get(name, name) for other in used)
        ]
        if not levels:
            problems.warn_once(
                f"unused {name}",
                item.place,
                f"no task lists RESOURCE {name}, so GetResource({name}) is an error",
            )
        lowest = top if behind.get(name) == SCHEDULER else 0
        found.append(Resource(name, max([lowest, *levels])))
    return found


def _check_scheduler(checked: Checked, behind: dict[str, str], problems: Problems) -> None:
    """Refuses ISRs that list RES_SCHEDULER or a name of it. Its ceiling is that of all tasks, so
    GetResource() in an ISR would be E_OS_ACCESS."""
    for isr in checked.of("ISR").values():
        for value in isr.values.many("RESOURCE"):
            if SCHEDULER in (value.value, behind.get(str(value.value))):
                problems.error(
                    value.place,
                    f"ISR {isr.name}: {SCHEDULER} blocks no interrupt, so only tasks have it",
                    "a standard resource",
                )
