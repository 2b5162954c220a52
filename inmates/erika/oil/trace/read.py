# SPDX-License-Identifier: GPL-2.0-only
"""Reads the lines of a trace out of any text, such as a serial log."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .objects import Objects

HEX = r"([0-9a-f]{1,16})"
LINE = re.compile(rf"\{{T {HEX} {HEX} {HEX} {HEX} {HEX}\}}|\{{K {HEX}\}}")


@dataclass
class Record:
    number: int
    time: int  # cycles
    kind: str
    id: int
    value: int


@dataclass
class Log:
    """`khz` is the frequency of the time stamps; 0: unknown."""

    records: list[Record] = field(default_factory=list)
    khz: int = 0
    lost: int = 0  # records that were overwritten in the ring
    missing: int = 0  # records whose lines are not in the text
    damaged: int = 0  # lines that cannot be read

    @property
    def first(self) -> int:
        return self.records[0].time if self.records else 0

    def microseconds(self, time: int) -> float:
        """Returns a time since the first record; cycles if the frequency is unknown."""
        return (time - self.first) * 1000 / self.khz if self.khz else float(time - self.first)


def read(text: str, objects: Objects) -> Log:
    """Returns the records in the order of their numbers. Where records are absent, a LOST record
    stands for them."""
    log = Log()
    found: dict[int, Record] = {}
    for match in LINE.finditer(text):
        if match[6]:
            log.khz = int(match[6], 16)
            continue
        number, time, kind, id_, value = (int(match[n], 16) for n in range(1, 6))
        if kind >= len(objects.kinds):
            log.damaged += 1
            continue
        found[number] = Record(number, time, objects.kinds[kind], id_, value)
    log.damaged += text.count("{T ") - sum(1 for match in LINE.finditer(text) if not match[6])
    _collect(log, sorted(found.values(), key=lambda record: record.number))
    return log


def _collect(log: Log, records: list[Record]) -> None:
    expected = records[0].number if records else 0
    for record in records:
        if record.kind == "START" and record.value:
            log.khz = record.value
        if record.kind == "LOST":
            log.lost += record.value
        elif record.number != expected:
            log.missing += record.number - expected
            log.records.append(
                Record(record.number - 1, record.time, "LOST", 0, record.number - expected)
            )
        expected = record.number + 1
        log.records.append(record)
