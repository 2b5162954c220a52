# SPDX-License-Identifier: GPL-2.0-only
"""Tables of counters, alarms and schedule tables."""

from __future__ import annotations

from ..model import Application, Point, Table
from .text import action, bits, count, flag, ram, row, string, table


def counters(application: Application) -> str:
    rows = [
        row(
            counter.name,
            {
                "name": string(counter.name),
                "base": f"{{ {counter.most}u, {counter.base}u, {counter.least_cycle}u }}",
                "tick_ns": counter.tick_ns or None,
                "driver": "&os_systimer" if counter.tick_ns else None,
            },
        )
        for counter in application.counters
    ]
    return (
        table("struct os_counter_conf", "os_counter_conf", rows)
        + ram("struct os_counter", "os_counters", len(rows))
        + count("os_num_counters", len(rows))
    )


def lateness(application: Application) -> str:
    """Returns the actions of the alarms whose lateness is measured."""
    if not application.late:
        return ""
    rows = "".join(
        row(alarm.name, {"act": f"os_act_{alarm.action.kind}"}) for alarm in application.late
    )
    return f"struct os_alarm_late os_alarm_late[{len(application.alarms)}] = {{\n{rows}}};\n"


def alarms(application: Application) -> str:
    late = {alarm.name for alarm in application.late}
    rows = [
        row(
            alarm.name,
            {
                "name": string(alarm.name),
                "counter": alarm.counter,
                "action": action(
                    alarm.action, function="os_act_late" if alarm.name in late else ""
                ),
                "modes": bits(alarm.modes, application.modes),
                "start": f"OS_START_{alarm.start}" if alarm.modes else None,
                "time": f"{alarm.time}u" if alarm.modes else None,
                "cycle": f"{alarm.cycle}u" if alarm.modes else None,
            },
        )
        for alarm in application.alarms
    ]
    return (
        table("struct os_alarm_conf", "os_alarm_conf", rows)
        + ram("struct os_alarm", "os_alarms", len(rows))
        + count("os_num_alarms", len(rows))
        + lateness(application)
    )


def schedule_tables(application: Application) -> str:
    points = "".join(_points(found) for found in application.tables)
    rows = [_table(found, application.modes) for found in application.tables]
    return (
        points
        + table("struct os_table_conf", "os_table_conf", rows)
        + ram("struct os_table", "os_tables", len(rows))
        + count("os_num_tables", len(rows))
    )


def _actions(found: Table, number: int) -> str:
    return f"os_actions_{found.name}_{number}"


def _points(found: Table) -> str:
    """Returns the expiry points of a table, and before them their actions."""
    lines = ""
    for number, point in enumerate(found.points):
        rows = "".join(f"\t{action(done)},\n" for done in point.actions)
        lines += f"static const struct os_action {_actions(found, number)}[] = {{\n{rows}}};\n"
    rows = "".join(_point(found, number, point) for number, point in enumerate(found.points))
    return f"{lines}static const struct os_expiry_point os_points_{found.name}[] = {{\n{rows}}};\n"


def _point(found: Table, number: int, point: Point) -> str:
    moves = ""
    if point.advance or point.retard:
        moves = f", .max_advance = {point.advance}u, .max_retard = {point.retard}u"
    return (
        f"\t{{ .offset = {point.offset}u, .num_actions = {len(point.actions)}, "
        f".actions = {_actions(found, number)}{moves} }},\n"
    )


def _table(found: Table, modes: list[str]) -> str:
    return row(
        found.name,
        {
            "name": string(found.name),
            "counter": found.counter,
            "length": f"{found.length}u",
            "periodic": flag(found.periodic),
            "sync": f"OS_SYNC_{found.sync}",
            "precision": f"{found.precision}u" if found.precision else None,
            "num_points": len(found.points),
            "points": f"os_points_{found.name}",
            "modes": bits(found.modes, modes),
            "start": f"OS_START_{found.start}" if found.modes else None,
            "time": f"{found.time}u" if found.modes else None,
        },
    )
