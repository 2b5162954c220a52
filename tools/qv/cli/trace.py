# SPDX-License-Identifier: GPL-2.0-only
"""qvctl trace: which thread of Quest had the CPU when, as its shell's command `trace` prints it."""

from __future__ import annotations

import json
import re

from .. import output
from ..errors import Refused
from ..timeline import QUEST, Schedule, Span, chrome, svg
from .tasks import asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..system import System
    from .command import Arguments

# AT VCPU HOW THREAD
LINE = re.compile(
    r"^ *([0-9]{1,18}) +(-?[0-9]{1,9}) (idle|background|budget) (\S.*)$", re.MULTILINE
)
REMEDY = "a cell that runs Quest; `qvoil trace` reads the traces of OSEK applications"


def spans_of(text: str) -> list[Span]:
    """Returns who had the CPU. The last entry is left out, since its end is not known."""
    rows = [(int(at), int(vcpu), how, name.rstrip()) for at, vcpu, how, name in LINE.findall(text)]
    return [
        Span(f"VCPU {vcpu}", name, at, later[0], how)
        for (at, vcpu, how, name), later in zip(rows, rows[1:])
        if how != "idle" and later[0] >= at
    ]


def _order(row: str) -> int:
    return int(row.partition(" ")[2])


def _print(args: Arguments, spans: list[Span], length: int) -> None:
    use: dict[tuple[str, str], tuple[int, int]] = {}
    for span in spans:
        count, time = use.get((span.row, span.what), (0, 0))
        use[span.row, span.what] = count + 1, time + int(span.end - span.begin)
    rows = [
        (row, what, count, time)
        for (row, what), (count, time) in sorted(
            use.items(), key=lambda item: (_order(item[0][0]), item[0][1])
        )
    ]
    if args.json:
        output.as_json(
            {
                "name": args.name,
                "us": length,
                "threads": [
                    {"vcpu": _order(row), "thread": what, "runs": count, "us": time}
                    for row, what, count, time in rows
                ],
            }
        )
        return
    output.line(f"{length} us, of which Quest was idle {length - sum(row[3] for row in rows)} us")
    output.table(
        ("VCPU", "THREAD", "RUNS", "US", "SHARE"),
        [
            [
                row.partition(" ")[2],
                what,
                str(count),
                str(time),
                f"{time / max(length, 1) * 100:.1f} %",
            ]
            for row, what, count, time in rows
        ],
        frozenset({0, 2, 3, 4}),
    )


def trace(args: Arguments, _system: System) -> int:
    text = asked(args.name, f"trace {args.count}" if args.count else "trace", REMEDY)
    spans = spans_of(text)
    if not spans:
        raise Refused(f"{args.name} printed no trace", REMEDY)
    rows = sorted({span.row for span in spans}, key=_order)
    schedule = Schedule(f"cell {args.name}", rows, QUEST, spans)
    times = [int(match[1]) for match in LINE.finditer(text)]
    if args.svg:
        output.save(args.svg, svg(schedule))
    if args.perfetto:
        output.save(args.perfetto, json.dumps(chrome(schedule)) + "\n")
    _print(args, spans, times[-1] - times[0])
    return 0
