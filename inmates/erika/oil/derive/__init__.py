# SPDX-License-Identifier: GPL-2.0-only
"""From checked objects to the application: one file for each kind of object."""

from __future__ import annotations

from ..check import Checked
from ..model import Application
from ..problems import Problems
from . import events, functions, interrupts, messages, resources, system, tables, tasks, timers


def derive(checked: Checked, problems: Problems) -> Application:
    """Returns the application. It is right only if `problems` has no errors afterwards."""
    system.check_one_os(checked, problems)
    modes = system.modes(checked, problems)
    counters = timers.counters(checked, problems)
    all_tasks = tasks.tasks(checked, modes, problems)
    internal = resources.internal(checked, problems)
    tasks.give_levels(all_tasks, internal)
    placed = interrupts.isrs(checked, counters, problems)
    all_messages = messages.messages(checked, problems)
    return Application(
        cpu=checked.cpu,
        conformance=system.conformance(checked, all_tasks, problems),
        extended_status=system.os_values(checked).text("STATUS") == "EXTENDED",
        hooks=system.hooks(checked),
        modes=modes,
        tasks=all_tasks,
        isrs=placed.isrs,
        resources=resources.resources(checked, all_tasks, placed.isrs, problems),
        linked=resources.linked(checked, problems),
        internal=internal,
        events=events.masks(checked, problems),
        counters=counters,
        alarms=timers.alarms(checked, modes, counters, problems),
        tables=tables.tables(checked, modes, counters, problems),
        messages=all_messages,
        com_modes=system.com_modes(checked),
        com_extended=system.com_extended(checked),
        timer_class=placed.timer_class,
        isr_stack=system.os_values(checked).number("ISRSTACKSIZE") or 0,
        sources=system.sources(checked, problems),
        cflags=system.cflags(checked),
        headers=system.headers(checked),
        trace=system.trace(checked),
        console=system.os_values(checked).truth("CONSOLE"),
        latency=system.os_values(checked).truth("LATENCY"),
        floats=system.floats(checked),
        functions=functions.functions(checked),
    )
