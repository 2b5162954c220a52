# SPDX-License-Identifier: GPL-2.0-only
"""Counters and alarms."""

from __future__ import annotations

from ..check import Checked, Item, Value, Values
from ..model import DEFAULT_TICK_NS, Action, Alarm, Counter
from ..problems import Problems
from .system import c_word, chosen_modes

ACTIONS = {
    "ACTIVATETASK": "activate",
    "SETEVENT": "event",
    "ALARMCALLBACK": "callback",
    "INCREMENTCOUNTER": "increment",
    "COMCALLBACK": "com_callback",
    "FLAG": "flag",
}


def _incremented(checked: Checked) -> dict[str, list[Value]]:
    """Returns the places where alarms increment each counter."""
    found: dict[str, list[Value]] = {}
    for alarm in checked.of("ALARM").values():
        for value in alarm.values.inside("ACTION").many("COUNTER"):
            found.setdefault(str(value.value), []).append(value)
    return found


def counters(checked: Checked, problems: Problems) -> list[Counter]:
    incremented = _incremented(checked)
    return [
        _counter(item, incremented.get(name, []), problems)
        for name, item in checked.of("COUNTER").items()
    ]


def _counter(item: Item, incremented: list[Value], problems: Problems) -> Counter:
    values = item.values
    most, least = values.number("MAXALLOWEDVALUE") or 1, values.number("MINCYCLE") or 1
    if least > most:
        problems.error(
            values.place_of("MINCYCLE"),
            f"COUNTER {item.name}: MINCYCLE {least} is larger than MAXALLOWEDVALUE {most}",
            f"at most {most}",
        )
    kind = values.text("TYPE")
    for value in incremented if kind == "HARDWARE" else ():
        problems.error(
            value.place,
            f"COUNTER {item.name} is a hardware counter, so no alarm can increment it",
            "a counter with TYPE = SOFTWARE",
        )
    software = kind == "SOFTWARE" or (not kind and bool(incremented))
    seconds = values.real("SECONDSPERTICK")
    if software and seconds is not None:
        problems.error(
            values.place_of("SECONDSPERTICK"),
            f"COUNTER {item.name}: a software counter has no tick in seconds",
            "TYPE = HARDWARE",
        )
    tick = 0 if software else DEFAULT_TICK_NS if seconds is None else max(1, round(seconds * 1e9))
    return Counter(item.name, most, values.number("TICKSPERBASE") or 1, least, tick)


def action(owner: str, checked: Checked, found: Value, problems: Problems) -> Action:
    """Returns the action of an alarm, an expiry point or a notification. `owner` names it in
    messages."""
    inside, kind = found.inside, str(found.value)
    if kind == "SETEVENT":
        _check_event(owner, checked, inside, problems)
    callback = inside.text("ALARMCALLBACKNAME") or inside.text("CALLBACKROUTINENAME")
    for name in ("ALARMCALLBACKNAME", "CALLBACKROUTINENAME", "FLAGNAME"):
        if inside.get(name):
            c_word(inside.text(name), inside.place_of(name), f"{owner}: {name}", problems)
    target = inside.text("TASK") or inside.text("COUNTER") or inside.text("FLAGNAME")
    return Action(ACTIONS[kind], target, inside.text("EVENT"), callback)


def _check_event(owner: str, checked: Checked, inside: Values, problems: Problems) -> None:
    task, event = inside.text("TASK"), inside.text("EVENT")
    item = checked.of("TASK").get(task)
    if item and event and event not in item.values.texts("EVENT"):
        problems.error(
            inside.place_of("EVENT"),
            f"{owner}: TASK {task} does not have EVENT {event}",
            f"EVENT = {event}; in TASK {task}",
        )


def alarms(
    checked: Checked, modes: list[str], known: list[Counter], problems: Problems
) -> list[Alarm]:
    by_name = {counter.name: counter for counter in known}
    found = [
        _alarm(checked, item, modes, by_name, problems) for item in checked.of("ALARM").values()
    ]
    _check_loops(checked, problems)
    return found


def _alarm(
    checked: Checked, item: Item, modes: list[str], known: dict[str, Counter], problems: Problems
) -> Alarm:
    values, wanted = item.values, item.values.get("ACTION")
    done = action(f"ALARM {item.name}", checked, wanted, problems) if wanted else Action("activate")
    found = Alarm(item.name, values.text("COUNTER"), done)
    start = values.inside("AUTOSTART")
    if not values.truth("AUTOSTART"):
        return found
    found.modes, found.start = chosen_modes(start, modes), start.text("TYPE")
    found.time, found.cycle = start.number("ALARMTIME") or 0, start.number("CYCLETIME") or 0
    counter = known.get(found.counter)
    if counter:
        _check_start(item, found, counter, start, problems)
    return found


def _check_start(
    item: Item, found: Alarm, counter: Counter, start: Values, problems: Problems
) -> None:
    if found.time > counter.most:
        problems.error(
            start.place_of("ALARMTIME"),
            f"ALARM {item.name}: ALARMTIME {found.time} is beyond the last value of {counter.name}",
            f"0 to {counter.most}",
        )
    if found.cycle and not counter.least_cycle <= found.cycle <= counter.most:
        problems.error(
            start.place_of("CYCLETIME"),
            f"ALARM {item.name}: CYCLETIME {found.cycle} is not possible on {counter.name}",
            f"0, or {counter.least_cycle} to {counter.most}",
        )


def _check_loops(checked: Checked, problems: Problems) -> None:
    """Checks that no counter increments itself by way of alarms."""
    steps: dict[str, list[tuple[str, Value]]] = {}
    for item in checked.of("ALARM").values():
        for value in item.values.inside("ACTION").many("COUNTER"):
            steps.setdefault(item.values.text("COUNTER"), []).append((str(value.value), value))
    for first in steps:
        reached, todo = set[str](), [first]
        while todo:
            for target, value in steps.get(todo.pop(), []):
                if target == first:
                    problems.error(
                        value.place, f"COUNTER {first} increments itself through its alarms"
                    )
                    return
                if target not in reached:
                    reached.add(target)
                    todo.append(target)
