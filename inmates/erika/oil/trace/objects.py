# SPDX-License-Identifier: GPL-2.0-only
"""The objects of an application by their numbers, from os_config.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeVar

Found = TypeVar("Found")


class WrongMap(Exception):
    """The file is not the map of an application."""


@dataclass
class Task:
    name: str
    level: int
    activations: int


@dataclass
class Levelled:
    """An ISR or a resource. The level of a resource is its ceiling."""

    name: str
    level: int


class Objects:
    """Names and levels by number."""

    def __init__(self, content: dict[str, Any]) -> None:
        try:
            self.kinds: list[str] = list(content["trace_kinds"])
            self.timer: int = int(content["trace_timer"])
            self.tasks = [
                Task(str(task["name"]), int(task["level"]), int(task["activations"]))
                for task in content["tasks"]
            ]
            self.isrs = [Levelled(str(isr["name"]), int(isr["level"])) for isr in content["isrs"]]
            self.system_timer = Levelled("(system timer)", int(content["timer_level"]))
            self.resources = [
                Levelled(str(found["name"]), int(found["ceiling"]))
                for found in content["resources"]
            ]
            self.alarms = [str(alarm["name"]) for alarm in content["alarms"]]
            self.tables = [str(table["name"]) for table in content["tables"]]
            self.modes = [str(mode) for mode in content["modes"]]
            self.events = {
                str(name): int(str(mask), 16) for name, mask in content["events"].items()
            }
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise WrongMap(f"it lacks {error}") from None

    @classmethod
    def load(cls, text: str) -> Objects:
        """Raises WrongMap."""
        try:
            content = json.loads(text)
        except ValueError:
            raise WrongMap("it is not JSON") from None
        if not isinstance(content, dict):
            raise WrongMap("it is not a JSON object")
        return cls(content)

    def isr(self, number: int) -> Levelled:
        """Returns an ISR. The console's ISR has the number of the system timer."""
        return self.system_timer if number == self.timer else _at(self.isrs, number, "ISR")

    def task(self, number: int) -> Task:
        return _at(self.tasks, number, "task")

    def resource(self, number: int) -> Levelled:
        return _at(self.resources, number, "resource")

    def event_names(self, mask: int) -> str:
        """Returns the names of the events in a mask. Events of different tasks may share a bit."""
        names = [name for name, bits in self.events.items() if bits & mask]
        return "|".join(names) or f"{mask:#x}"


def _at(listed: list[Found], number: int, kind: str) -> Found:
    if number >= len(listed):
        raise WrongMap(f"the trace has {kind} {number}, which it lacks")
    return listed[number]
