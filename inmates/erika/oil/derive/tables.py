# SPDX-License-Identifier: GPL-2.0-only
"""Schedule tables: AUTOSAR OS 4.x, 7.3 and 7.4."""

from __future__ import annotations

from ..check import Checked, Item, Value
from ..model import Action, Counter, Point, Table
from ..problems import Place, Problems
from .system import chosen_modes
from .timers import action


def tables(
    checked: Checked, modes: list[str], known: list[Counter], problems: Problems
) -> list[Table]:
    by_name = {counter.name: counter for counter in known}
    return [
        _table(checked, item, modes, by_name, problems)
        for item in checked.of("SCHEDULETABLE").values()
    ]


def _table(
    checked: Checked, item: Item, modes: list[str], known: dict[str, Counter], problems: Problems
) -> Table:
    values = item.values
    sync = values.inside("LOCAL_TO_GLOBAL_TIME_SYNCHRONIZATION")
    start = values.text("AUTOSTART")
    start = "NONE" if start == "FALSE" else start
    begin = values.inside("AUTOSTART")
    found = Table(
        item.name,
        values.text("COUNTER"),
        values.number("LENGTH") or 1,
        values.truth("PERIODIC"),
        sync.text("SYNC_STRATEGY") or "NONE",
        sync.number("PRECISION") or 0,
        _points(checked, item, problems),
        chosen_modes(begin, modes) if start != "NONE" else [],
        start,
        begin.number("START") or begin.number("OFFSET") or 0,
    )
    counter = known.get(found.counter)
    if counter:
        _check_length(item, found, counter, problems)
        _check_moves(item, found, counter, problems)
        _check_start(item, found, counter, problems)
    return found


def _points(checked: Checked, item: Item, problems: Problems) -> list[Point]:
    """Returns the expiry points in the order of their offsets; two at one offset become one."""
    points: dict[int, Point] = {}
    if not item.values.many("EXPIRY_POINT"):
        problems.error(
            item.place,
            f"SCHEDULETABLE {item.name} has no EXPIRY_POINT",
            "EXPIRY_POINT name { OFFSET = ...; ACTION = ...; };",
        )
    for value in item.values.many("EXPIRY_POINT"):
        offset = value.inside.number("OFFSET") or 0
        point = points.setdefault(offset, Point(offset, []))
        point.actions += _actions(checked, item, value, problems)
        moves = value.inside.inside("ADJUSTABLE")
        point.advance = max(point.advance, moves.number("MAX_ADVANCE") or 0)
        point.retard = max(point.retard, moves.number("MAX_RETARD") or 0)
        _check_adjustable(item, value, problems)
    for point in points.values():
        point.actions.sort(key=lambda done: done.kind != "activate")
    return [points[offset] for offset in sorted(points)]


def _actions(checked: Checked, item: Item, point: Value, problems: Problems) -> list[Action]:
    owner = f"SCHEDULETABLE {item.name}: EXPIRY_POINT {point.value}"
    actions = point.inside.many("ACTION")
    if not actions:
        problems.error(point.place, f"{owner} has no ACTION", "ACTIVATETASK or SETEVENT")
    return [action(owner, checked, value, problems) for value in actions]


def _check_adjustable(item: Item, point: Value, problems: Problems) -> None:
    sync = item.values.inside("LOCAL_TO_GLOBAL_TIME_SYNCHRONIZATION")
    if point.inside.truth("ADJUSTABLE") and sync.text("SYNC_STRATEGY") != "EXPLICIT":
        problems.error(
            point.inside.place_of("ADJUSTABLE"),
            f"SCHEDULETABLE {item.name}: EXPIRY_POINT {point.value}: only SYNC_STRATEGY = EXPLICIT "
            "moves points",
            "ADJUSTABLE = FALSE",
        )


def _check_moves(item: Item, found: Table, counter: Counter, problems: Problems) -> None:
    """Checks how far synchronization may move each point (SWS_Os_00436, 00437, 00559), and the
    PRECISION (00438)."""
    if found.sync != "EXPLICIT":
        return
    if found.precision > found.length:
        problems.error(
            item.values.inside("LOCAL_TO_GLOBAL_TIME_SYNCHRONIZATION").place_of("PRECISION"),
            f"SCHEDULETABLE {item.name}: the PRECISION {found.precision} is larger than the LENGTH",
            f"0 to {found.length}",
        )
    offsets = [point.offset for point in found.points]
    for value in item.values.many("EXPIRY_POINT"):
        offset = value.inside.number("OFFSET") or 0
        moves = value.inside.inside("ADJUSTABLE")
        delay = offset - max((one for one in offsets if one < offset), default=0)
        most = min(found.length, counter.most - delay) - 1
        limits = [("MAX_ADVANCE", most, "longer")]
        if offset != offsets[0]:
            limits.append(("MAX_RETARD", delay - counter.least_cycle - 1, "shorter"))
        for name, limit, becomes in limits:
            if (moves.number(name) or 0) > max(limit, 0):
                problems.error(
                    moves.place_of(name),
                    f"SCHEDULETABLE {item.name}: EXPIRY_POINT {value.value}: its delay of {delay} "
                    f"ticks cannot become {moves.number(name)} ticks {becomes}",
                    f"0 to {max(limit, 0)}",
                )


def _check_length(item: Item, found: Table, counter: Counter, problems: Problems) -> None:
    place, turn = item.values.place_of("LENGTH"), counter.most + 1
    if found.sync == "IMPLICIT" and found.length != turn:
        problems.error(
            place,
            f"SCHEDULETABLE {item.name}: with SYNC_STRATEGY = IMPLICIT the LENGTH is that of "
            f"a turn of {counter.name}",
            str(turn),
        )
    if found.sync == "EXPLICIT" and found.length > turn:
        problems.error(
            place,
            f"SCHEDULETABLE {item.name}: the LENGTH {found.length} is longer than a turn of "
            f"{counter.name}",
            f"at most {turn}",
        )
    for value in item.values.many("EXPIRY_POINT"):
        offset = value.inside.number("OFFSET") or 0
        if offset > found.length:
            problems.error(
                value.inside.place_of("OFFSET"),
                f"SCHEDULETABLE {item.name}: EXPIRY_POINT {value.value}: OFFSET {offset} is after "
                "the end",
                f"0 to {found.length}",
            )
    _check_gaps(item, found, counter, problems)


def _check_gaps(item: Item, found: Table, counter: Counter, problems: Problems) -> None:
    """Checks that the counter can wait for each delay: before the first point (SWS_Os_00443),
    between points (00408), and after the last one (00427; 00444 if the table begins again)."""
    offsets = [point.offset for point in found.points]
    if not offsets:
        return
    for before, offset in zip([0, *offsets], offsets):
        value = next(
            value
            for value in item.values.many("EXPIRY_POINT")
            if (value.inside.number("OFFSET") or 0) == offset
        )
        first = offset == offsets[0]
        _check_delay(
            counter,
            offset - before,
            first,
            value.inside.place_of("OFFSET"),
            f"SCHEDULETABLE {item.name}: EXPIRY_POINT {value.value} is {offset - before} ticks "
            f"after the {'start of the table' if first else 'one before it'}",
            problems,
        )
    last = found.length - offsets[-1]
    if last >= 0:  # else _check_length() reported the point
        _check_delay(
            counter,
            last,
            not found.periodic,
            item.values.place_of("LENGTH"),
            f"SCHEDULETABLE {item.name}: the LENGTH {found.length} ends {last} ticks after the "
            "last EXPIRY_POINT",
            problems,
        )


def _check_delay(
    counter: Counter, delay: int, may_be_none: bool, place: Place, wrong: str, problems: Problems
) -> None:
    """Reports `wrong` if the counter cannot wait so many ticks."""
    if counter.least_cycle <= delay <= counter.most or may_be_none and not delay:
        return
    allowed = f"{counter.least_cycle} to {counter.most} ticks on {counter.name}"
    problems.error(place, wrong, f"0 or {allowed}" if may_be_none else allowed)


def _check_start(item: Item, found: Table, counter: Counter, problems: Problems) -> None:
    inside, place = item.values.inside("AUTOSTART"), item.values.place_of("AUTOSTART")
    if found.start == "SYNCHRON" and found.sync != "EXPLICIT":
        problems.error(
            place, f"SCHEDULETABLE {item.name}: AUTOSTART = SYNCHRON needs SYNC_STRATEGY = EXPLICIT"
        )
    if found.start == "RELATIVE" and found.sync == "IMPLICIT":
        problems.error(
            place,
            f"SCHEDULETABLE {item.name}: a table with SYNC_STRATEGY = IMPLICIT starts at a value "
            "of the counter",
            "AUTOSTART = ABSOLUTE",
        )
    if found.time > counter.most:
        name = "START" if found.start == "ABSOLUTE" else "OFFSET"
        problems.error(
            inside.place_of(name),
            f"SCHEDULETABLE {item.name}: {name} {found.time} is beyond the last "
            f"value of {counter.name}",
            f"0 to {counter.most}",
        )
    elif found.start == "RELATIVE" and found.points:
        _check_relative_start(item, found, counter, problems)


def _check_relative_start(item: Item, found: Table, counter: Counter, problems: Problems) -> None:
    """Checks what StartScheduleTableRel() checks: the counter waits from the start of the system to
    the first point of the table (SWS_Os_00332)."""
    most = counter.most - found.points[0].offset
    if 0 <= most < found.time:
        problems.error(
            item.values.inside("AUTOSTART").place_of("OFFSET"),
            f"SCHEDULETABLE {item.name}: OFFSET {found.time} and that of the first EXPIRY_POINT "
            f"are together beyond the last value of {counter.name}",
            f"0 to {most}",
        )
