# SPDX-License-Identifier: GPL-2.0-only
"""The functions that the application must write, and who asks for each."""

from __future__ import annotations

from collections.abc import Iterator

from ..check import Checked
from ..model import Function
from .system import HOOKS, com_values, idle_data, os_values

COM_HOOKS = (("COMERRORHOOK", "COMErrorHook"), ("COMSTARTCOMEXTENSION", "StartCOMExtension"))


def functions(checked: Checked) -> list[Function]:
    """Returns the functions in the order of their kinds."""
    return [
        *_bodies(checked),
        *_callbacks(checked, "ALARM", "ACTION", "ALARMCALLBACKNAME"),
        *_callbacks(checked, "MESSAGE", "NOTIFICATION", "CALLBACKROUTINENAME"),
        *_hooks(checked),
    ]


def _bodies(checked: Checked) -> Iterator[Function]:
    for task in checked.of("TASK").values():
        yield Function("TASK", task.name, f"TASK {task.name}", task.place)
    for isr in checked.of("ISR").values():
        handler = isr.values.text("HANDLER")
        yield Function(
            "ISR",
            handler or isr.name,
            f"ISR {isr.name}",
            isr.values.place_of("HANDLER") if handler else isr.place,
        )


def _callbacks(checked: Checked, kind: str, attribute: str, name: str) -> Iterator[Function]:
    word = {"ALARM": "ALARMCALLBACK", "MESSAGE": "COMCallback"}[kind]
    for item in checked.of(kind).values():
        inside = item.values.inside(attribute)
        if inside.text(name):
            yield Function(word, inside.text(name), f"{kind} {item.name}", inside.place_of(name))


def _hooks(checked: Checked) -> Iterator[Function]:
    hooks = [(attribute, name) for attribute, _, name in HOOKS]
    for kind, values, known in (
        ("OS", os_values(checked), hooks),
        ("COM", com_values(checked), COM_HOOKS),
    ):
        owner = next(iter(checked.of(kind).values()), None)
        for attribute, name in known:
            if owner and values.truth(attribute):
                yield Function(
                    "", name, f"{kind} {owner.name}: {attribute} = TRUE", values.place_of(attribute)
                )
    data = idle_data(checked)
    if data.truth("IDLEHOOK"):
        yield Function(
            "",
            data.inside("IDLEHOOK").text("HOOKNAME"),
            "IDLEHOOK = TRUE",
            data.place_of("IDLEHOOK"),
        )
