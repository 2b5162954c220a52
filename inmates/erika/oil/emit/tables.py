# SPDX-License-Identifier: GPL-2.0-only
"""os_config.c: the tables of the kernel (inmates/erika/include/erika/conf.h)."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Action, Application, Isr
from .com import messages
from .text import bits, count, flag, head, numbered, of_user, ram, row, string, table
from .time import alarms, counters, schedule_tables

HOOK_ARGUMENT = {"shutdown": "StatusType error", "error": "StatusType error"}


def text(application: Application, origin: str) -> str:
    parts = (
        _declarations,
        _stacks,
        tasks,
        queues,
        resources,
        counters,
        alarms,
        schedule_tables,
        isrs,
        messages,
        whole,
    )
    body = "\n".join(filter(None, (part(application) for part in parts)))
    headers = "".join(
        of_user(f"#include {string(name)}\n", place) for name, place in application.headers
    )
    known = ("<stddef.h>", "<erika/conf.h>", "<erika/com.h>")
    includes = "".join(f"#include {name}\n" for name in known)
    whole_text = f'{head(origin)}{includes}{headers}#include "os_config.h"\n\n{body}'
    return numbered(whole_text, "os_config.c")


def _actions(application: Application) -> Iterator[Action]:
    for alarm in application.alarms:
        yield alarm.action
    for found in application.tables:
        for point in found.points:
            yield from point.actions
    for message in application.messages:
        if message.notify:
            yield message.notify


def _declarations(application: Application) -> str:
    """Returns the declarations of the functions that the application writes."""
    names = [f"OS_TASK_ENTRY({task.name})" for task in application.tasks]
    names += [f"OS_ISR_ENTRY({isr.handler})" for isr in application.isrs]
    entries = {"callback": "OS_ALARM_ENTRY", "com_callback": "OS_COM_ENTRY"}
    names += [
        f"{entries[done.kind]}({done.callback})" for done in _actions(application) if done.callback
    ]
    lines = [f"void {name}(void);\n" for name in dict.fromkeys(names)]
    lines += [
        f"void {name}({HOOK_ARGUMENT.get(field, 'void')});\n"
        for field, name in application.hooks.names.items()
    ]
    return "".join(lines)


def _stacks(application: Application) -> str:
    lines = [f"OS_STACK(os_stack_{task.name}, {task.stack});\n" for task in application.tasks]
    return "".join((*lines, f"OS_STACK(os_isr_stack_area, {application.isr_stack});\n"))


def _late_entry(name: str) -> str:
    return f"os_late_entry_{name}"


def _lateness(application: Application) -> str:
    """Returns the entries of the tasks whose lateness is measured, and their table."""
    if not application.late:
        return ""
    names = [task.name for task in application.tasks if task.name in application.late_tasks]
    entries = "".join(
        f"static void {_late_entry(name)}(void)\n{{\n"
        f"\tos_late_begin({name});\n\tOS_TASK_ENTRY({name})();\n}}\n"
        for name in names
    )
    rows = "".join(row(name, {"counted": "true"}) for name in names)
    size = max(len(application.tasks), 1)
    return f"{entries}struct os_task_late os_task_late[{size}] = {{\n{rows}}};\n"


def tasks(application: Application) -> str:
    late = application.late_tasks
    rows = [
        row(
            task.name,
            {
                "name": string(task.name),
                "entry": _late_entry(task.name)
                if task.name in late
                else f"OS_TASK_ENTRY({task.name})",
                "level": task.level,
                "run_level": task.run_level,
                "activations": task.activations,
                "extended": flag(task.extended),
                "autostart": bits(task.modes, application.modes),
                "stack": f"OS_STACK_ROW(os_stack_{task.name})",
            },
        )
        for task in application.tasks
    ]
    return (
        _lateness(application)
        + table("struct os_task_conf", "os_task_conf", rows)
        + ram("struct os_task", "os_tasks", len(rows))
        + count("os_num_tasks", len(rows))
        + f"const uint8_t os_top_level = {application.top_level};\n"
    )


def queues(application: Application) -> str:
    """Returns the ready queues: one task for each level, or a ring for each."""
    levels = range(1, application.top_level + 1)
    if not application.queued:
        at = {task.level: task.name for task in application.tasks}
        names = "".join(f"\t{at[level]},\n" for level in levels)
        return f"const TaskType os_level_task[{max(len(levels), 1)}] = {{\n{names or '0'}}};\n"
    lines, rows = "", ""
    for level in levels:
        size = sum(task.activations for task in application.tasks if task.level == level)
        lines += f"static TaskType os_slots_{level}[{size}];\n"
        rows += f"\t{{ os_slots_{level}, {size} }},\n"
    return (
        f"{lines}const struct os_level_queue os_level_queue[] = {{\n{rows}}};\n"
        f"struct os_ring os_level_ring[{len(levels)}];\n"
    )


def resources(application: Application) -> str:
    rows = [
        row(
            "0" if number == 0 else resource.name,
            {"name": string(resource.name), "ceiling": resource.ceiling},
        )
        for number, resource in enumerate(application.resources)
    ]
    return (
        table("struct os_resource_conf", "os_resource_conf", rows)
        + ram("struct os_resource", "os_resources", len(rows))
        + count("os_num_resources", len(rows))
    )


def isrs(application: Application) -> str:
    rows = [
        row(
            isr.name,
            {
                "name": string(isr.name),
                "entry": f"OS_ISR_ENTRY({isr.handler})",
                "category": isr.category,
                "vector": f"{isr.vector:#x}",
                "level": f"OS_ISR_LEVEL({isr.interrupt_class})",
                "ack": "OS_ACK_AFTER" if isr.after else "OS_ACK_BEFORE",
                "id": isr.name,
                **source(isr),
            },
        )
        for isr in application.isrs
    ]
    handlers = "".join(
        bell_handler(isr.handler, isr.action) for isr in application.isrs if isr.action
    )
    return (
        handlers
        + table("struct os_isr_conf", "os_isr_conf", rows)
        + count("os_num_isrs", len(rows))
        + f"const uint8_t os_isr2_level = {application.isr2_level};\n"
        + timer(application)
    )


def source(isr: Isr) -> dict[str, object]:
    """Returns the fields of the device of an ISR, if it has one."""
    found = isr.source
    if not found:
        return {}
    kind: dict[str, object] = {"source": f"OS_SOURCE_{found.kind}"}
    if found.kind == "BELL":
        return kind | {"channel": string(found.channel)}
    if found.kind == "LINE":
        return kind | {"line": found.line}
    if found.line:
        kind["line"] = found.line
    return kind | {"vendor": f"{found.vendor:#06x}", "device": f"{found.device:#06x}"}


def bell_handler(name: str, done: Action) -> str:
    """Returns the ISR of a CHANNEL, which has no function of the application."""
    call = (
        f"SetEvent({done.target}, {done.event})" if done.event else f"ActivateTask({done.target})"
    )
    return f"ISR({name})\n{{\n\t{call};\n}}\n\n"


def timer(application: Application) -> str:
    """Returns the row of the system timer, which is empty if no counter is on it."""
    fields = (
        {
            "name": string("system timer"),
            "entry": "os_systimer_expire",
            "category": 2,
            "level": f"OS_ISR_LEVEL({application.timer_class})",
            "id": "INVALID_ISR",
        }
        if any(counter.tick_ns for counter in application.counters)
        else {}
    )
    values = ", ".join(f".{field} = {value}" for field, value in fields.items())
    return f"const struct os_isr_conf os_timer_isr{f' = {{ {values} }}' if values else ''};\n"


def idle(application: Application) -> tuple[str, str]:
    """Returns the name of the function that runs while no task does, and its text if it is
    generated."""
    hook = application.hooks.names.get("idle", "")
    if not application.console or not hook:
        return "os_shell_wait" if application.console else hook, ""
    return "os_idle", f"static void os_idle(void)\n{{\n\tos_shell_idle();\n\t{hook}();\n}}\n"


def tools(application: Application) -> str:
    """Returns what the trace and the console need."""
    text = ""
    if application.trace:
        text += f"struct os_trace_record os_trace_ring[{application.trace}];\n"
        text += count("os_trace_size", application.trace)
    if application.console:
        printed = "os_trace_print" if application.trace else "NULL"
        text += f"void (*const os_shell_trace)(void) = {printed};\n"
    return text


def whole(application: Application) -> str:
    """Returns what there is once: hooks, the stack of interrupts, the parts to start."""
    idle_name, idle_text = idle(application)
    names = application.hooks.names | ({"idle": idle_name} if idle_name else {})
    hooks = "".join(f"\t.{field} = {name},\n" for field, name in names.items())
    parts = {
        "counters": any(counter.tick_ns for counter in application.counters),
        "alarms": any(alarm.modes for alarm in application.alarms),
        "tables": any(found.modes for found in application.tables),
        "messages": bool(application.messages),
        "latency": bool(application.late),
        "trace": bool(application.trace),
        "shell": application.console,
    }
    started = "".join(f"os_start_{name}, " for name, needed in parts.items() if needed)
    return "".join(
        (
            tools(application),
            idle_text,
            f"const struct os_hooks os_hooks = {{\n{hooks}}};\n"
            if hooks
            else "const struct os_hooks os_hooks;\n",
            count("os_num_modes", len(application.modes)),
            "const struct os_stack os_isr_stack = OS_STACK_ROW(os_isr_stack_area);\n",
            "const bool *const os_floats_chosen = &os_floats;\n" if application.floats else "",
            f"os_part *const os_parts[] = {{ {started}NULL }};\n",
        )
    )
