# SPDX-License-Identifier: GPL-2.0-only
"""The command `qvoil trace`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ..write import write
from .draw import schedule
from .objects import Objects, WrongMap
from .read import Log, Record, read
from .replay import Replay, replay
from .timeline import chrome, svg

DONE, BROKEN, WRONG = 0, 1, 2
MOST = 50  # broken rules that are printed


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "log",
        type=Path,
        metavar="LOG",
        help="a text that contains the trace, such as a serial log; - for stdin",
    )
    parser.add_argument(
        "--map", type=Path, required=True, metavar="FILE", help="os_config.json of the application"
    )
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the schedule")
    parser.add_argument(
        "--perfetto", type=Path, metavar="FILE", help="write the trace for Perfetto and Chrome"
    )
    parser.add_argument(
        "--from",
        dest="begin",
        type=float,
        default=0.0,
        metavar="US",
        help="where the picture begins, in us since the first record",
    )
    parser.add_argument("--to", type=float, default=None, metavar="US", help="where it ends")
    parser.add_argument("--list", action="store_true", help="print all records")
    parser.set_defaults(run=run)


def _failed(sentence: str, remedy: str) -> int:
    print(f"qvoil: {sentence}\n  remedy: {remedy}", file=sys.stderr)
    return WRONG


def _line(log: Log, record: Record, text: str) -> str:
    unit = "us" if log.khz else "cycles"
    return f"{log.microseconds(record.time):14.3f} {unit}  {text}"


def _named(objects: Objects, record: Record) -> str:
    """Returns a record in words."""
    if record.kind in ("ACTIVATE", "RUN", "PREEMPT", "WAIT", "END", "SET", "CLEAR", "READY"):
        name = objects.task(record.id).name
        events = record.kind in ("WAIT", "SET", "CLEAR")
        return f"{record.kind} {name}" + (f" {objects.event_names(record.value)}" if events else "")
    if record.kind in ("TAKE", "GIVE"):
        return f"{record.kind} {objects.resource(record.id).name}"
    if record.kind in ("ENTER", "LEAVE"):
        return f"{record.kind} {objects.isr(record.id).name}"
    if record.kind == "ALARM" and record.id < len(objects.alarms):
        return f"ALARM {objects.alarms[record.id]}"
    if record.kind == "POINT" and record.id < len(objects.tables):
        return f"POINT {objects.tables[record.id]} {record.value}"
    return f"{record.kind} {record.id} {record.value}"


def _summary(log: Log, found: Replay) -> None:
    span = log.microseconds(log.records[-1].time)
    print(
        f"{len(log.records)} records, {span:.3f} {'us' if log.khz else 'cycles'}, "
        f"{log.lost} overwritten, {log.missing} missing, {log.damaged} lines damaged, "
        f"{len(found.broken)} rules broken"
    )


def run(arguments: argparse.Namespace) -> int:
    try:
        text = (
            sys.stdin.read()
            if str(arguments.log) == "-"
            else arguments.log.read_text(errors="replace")
        )
        objects = Objects.load(arguments.map.read_text())
        log = read(text, objects)
        if not log.records:
            return _failed(
                f"{arguments.log}: there is no trace in it",
                "TRACE = TRUE in the OS object, and the output of `trace`",
            )
        found = replay(log, objects)
        if arguments.list:
            for record in log.records:
                print(_line(log, record, _named(objects, record)))
    except WrongMap as error:
        return _failed(f"{arguments.map}: {error}", "the os_config.json of this application")
    for broken in found.broken[:MOST]:
        print(_line(log, broken.record, broken.sentence))
    if arguments.svg:
        end = arguments.to if arguments.to is not None else log.microseconds(log.records[-1].time)
        write(arguments.svg, svg(schedule(found, str(arguments.log)), arguments.begin, end))
    if arguments.perfetto:
        events = chrome(schedule(found, str(arguments.log)))
        write(arguments.perfetto, json.dumps(events) + "\n")
    _summary(log, found)
    return BROKEN if found.broken else DONE
