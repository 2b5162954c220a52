# SPDX-License-Identifier: GPL-2.0-only
"""os_config.json: names, numbers and symbols, for tools that show a running image."""

from __future__ import annotations

import json
from typing import Any

from ..model import ISR_LEVELS, Application

FORMAT = 1
TASK_STATES = ["SUSPENDED", "READY", "WAITING", "RUNNING"]
TABLE_STATES = ["STOPPED", "NEXT", "WAITING", "RUNNING", "RUNNING_AND_SYNCHRONOUS"]
PAINT = 0x5A
TAKEN_BY_ISR = 2  # `taken` in struct os_resource
# The errors in include/erika/types.h
ERRORS = {
    0: "E_OK",
    1: "E_OS_ACCESS",
    2: "E_OS_CALLEVEL",
    3: "E_OS_ID",
    4: "E_OS_LIMIT",
    5: "E_OS_NOFUNC",
    6: "E_OS_RESOURCE",
    7: "E_OS_STATE",
    8: "E_OS_VALUE",
    9: "E_OS_SERVICEID",
    10: "E_OS_ILLEGAL_ADDRESS",
    11: "E_OS_MISSINGEND",
    12: "E_OS_DISABLEDINT",
    13: "E_OS_STACKFAULT",
    14: "E_OS_PARAM_POINTER",
}
# enum os_trace_kind in include/erika/trace.h
TRACE_KINDS = [
    "LOST",
    "START",
    "STOP",
    "ACTIVATE",
    "RUN",
    "PREEMPT",
    "WAIT",
    "END",
    "IDLE",
    "SET",
    "CLEAR",
    "READY",
    "TAKE",
    "GIVE",
    "ENTER",
    "LEAVE",
    "ALARM",
    "POINT",
    "ERROR",
]
TRACE_TIMER = 0xFFFF  # the `id` of the system timer as an ISR


def text(application: Application, origin: str) -> str:
    return json.dumps(content(application), indent=1) + "\n"


def content(application: Application) -> dict[str, Any]:
    """Returns the map. `symbols` are those of the image that hold the state; the index of a list is
    the identifier of the object."""
    return {
        "format": FORMAT,
        "cpu": application.cpu,
        "class": application.conformance,
        "status": "EXTENDED" if application.extended_status else "STANDARD",
        "symbols": {
            "state": "os",
            "tasks": "os_tasks",
            "resources": "os_resources",
            "counters": "os_counters",
            "alarms": "os_alarms",
            "tables": "os_tables",
            "messages": "os_messages",
        },
        "task_states": TASK_STATES,
        "table_states": TABLE_STATES,
        "modes": application.modes,
        "trace_kinds": TRACE_KINDS,
        "trace_timer": TRACE_TIMER,
        "timer_level": ISR_LEVELS + application.timer_class,
        "stack_paint": PAINT,
        "events": {name: f"{mask:#x}" for name, mask in application.events.items()},
        "tasks": [_task(application, number) for number in range(len(application.tasks))],
        "isrs": [
            {"name": isr.name, "category": isr.category, "vector": isr.vector, "level": isr.level}
            for isr in application.isrs
        ],
        "isr_stack": {"symbol": "os_isr_stack_area", "size": application.isr_stack},
        "resources": [
            {"name": resource.name, "ceiling": resource.ceiling}
            for resource in application.resources
        ],
        "counters": [
            {"name": counter.name, "max": counter.most, "tick_ns": counter.tick_ns}
            for counter in application.counters
        ],
        "alarms": [
            {
                "name": alarm.name,
                "counter": alarm.counter,
                "action": alarm.action.kind,
                "target": alarm.action.target or alarm.action.callback,
            }
            for alarm in application.alarms
        ],
        "tables": [
            {
                "name": table.name,
                "counter": table.counter,
                "length": table.length,
                "points": [point.offset for point in table.points],
            }
            for table in application.tables
        ],
        "messages": [
            {"name": message.name, "kind": message.kind, "type": message.ctype}
            for message in application.messages
        ],
    }


def _task(application: Application, number: int) -> dict[str, Any]:
    task = application.tasks[number]
    return {
        "name": task.name,
        "priority": task.priority,
        "level": task.level,
        "run_level": task.run_level,
        "activations": task.activations,
        "events": task.events,
        "resources": task.resources,
        "stack": {"symbol": f"os_stack_{task.name}", "size": task.stack},
    }
