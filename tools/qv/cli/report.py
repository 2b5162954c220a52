# SPDX-License-Identifier: GPL-2.0-only
"""qvctl report: configuration, state, numbers and plots of this machine in one HTML file."""

from __future__ import annotations

import datetime
import platform
from html import escape

from .. import abi, dropin, output, svg, version, words
from ..errors import NotLoaded, Refused
from . import report_machine
from .doctor import Examination
from .export import exported
from .follow import log_lines
from .latency import histogram_data, histograms_of
from .recovery import block_of, recovery_data, tables
from .show import state_text
from .stats import EXITS
from .status import status_data
from .top import look, rates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..device import Device
    from ..system import System
    from .command import Arguments
    from .top import Moment

LOG_LINES = 300  # of the log: the last ones
STYLE = """body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left}
pre{background:#f4f4f4;padding:.6em;overflow-x:auto}h2{border-bottom:1px solid #ccc}
.fail{color:#b00}body{background:#fff}"""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def row(kind: str, cells: Sequence[str]) -> str:
        return f"<tr>{''.join(f'<{kind}>{escape(cell)}</{kind}>' for cell in cells)}</tr>"

    return f"<table>{row('th', heads)}{''.join(row('td', cells) for cells in rows)}</table>\n"


def _pre(text: str) -> str:
    return f"<pre>{escape(text)}</pre>\n"


def _measured(
    args: Arguments, device: Device, system: System, khz: int, vendor: int
) -> tuple[list[float], list[dict[str, dict[str, Any]]], dict[str, Moment]]:
    """Looks at the machine several times. Returns the times in seconds, the work of each owner of
    CPUs up to each time, and the last look."""
    began = system.now()
    before = look(device, vendor, system)
    times, found = [], []
    for _ in range(args.count):
        system.sleep(args.interval)
        now = look(device, vendor, system)
        times.append(system.now() - began)
        found.append(
            {
                name: rates(name, moment, before.get(name, moment), khz)
                for name, moment in now.items()
            }
        )
        before = now
    return times, found, before


def _plots(
    times: list[float], found: list[dict[str, dict[str, Any]]], colours: dict[str, str]
) -> str:

    def series(key: str, factor: float) -> dict[str, list[float | None]]:
        every = {
            name: [
                one[name][key] * factor if name in one and one[name][key] is not None else None
                for one in found
            ]
            for name in colours
        }
        return {
            name: values
            for name, values in every.items()
            if any(value is not None for value in values)
        }

    parts = ["<h2>Work over time</h2>\n"]
    for title, key, factor, most in (
        ("CPU use of cells, %, of those that count their idle time", "busy", 100.0, 100.0),
        ("Exits per second", "exits_per_second", 1.0, 0.0),
        ("Time in the monitor, % of the CPUs' time", "monitor", 100.0, 0.0),
    ):
        some = series(key, factor)
        parts.append(
            f"<h3>{escape(title)}</h3>\n"
            + (svg.lines(title, times, some, most, colours) if some else "<p>no numbers</p>")
            + "\n"
        )
    return "".join(parts)


def _exits(now: dict[str, Moment], colours: dict[str, str]) -> str:
    parts = ["<h2>Exits since the start</h2>\n"]
    for name, moment in now.items():
        counts = [sum(cpu.exits[reason] for cpu in moment.sample.cpus) for reason in EXITS]
        rows = [
            (reason.name.lower().replace("_", "-"), float(count))
            for reason, count in zip(EXITS, counts)
            if count
        ]
        parts.append(
            f"<h3>{escape(name)}</h3>\n"
            + (svg.bars(f"exits of {name}", rows, colours[name]) if rows else "<p>none</p>")
            + "\n"
        )
    return "".join(parts)


def _latencies(system: System, name: str, khz: int) -> str:
    parts = []
    for one in histograms_of(system, name) or []:
        data = histogram_data(one, khz)
        rows = [
            (
                (
                    f"< {output.duration(bucket['below_ns'])}"
                    if bucket["below_ns"] is not None
                    else "longer"
                ),
                float(bucket["count"]),
            )
            for bucket in data["buckets"]
            if bucket["count"]
        ]
        title = (
            f"latency {one.name}: {data['count']} times, "
            f"at most {output.duration(data['max_ns'])}, {data['missed']} beyond the deadline"
        )
        parts.append(f"<h4>{escape(title)}</h4>\n{svg.bars(title, rows) if rows else ''}\n")
    return "".join(parts)


def _components(system: System, name: str, khz: int) -> str:
    block = block_of(system, name)
    if not block or not block.components:
        return ""
    found = tables(recovery_data(block, khz))
    return f"<h4>recovery of {escape(name)}</h4>\n" + "".join(
        _table(heads, rows) for heads, rows, _ in found
    )


def _cell(system: System, device: Device, cell: dict[str, Any]) -> str:
    name = cell["name"]
    rows = [
        ("state", state_text(cell)),
        ("heartbeats", str(cell["heartbeat"])),
        ("failures", str(cell["failures"])),
        ("CPUs", words.cpu_list(sorted(cell["cpus"]))),
        ("memory", words.size(cell["memory"])),
    ]
    parts = [f"<h3>{escape(name)}</h3>\n", _table(("", ""), rows)]
    for title, failure in (("failed", cell["failure"]), ("last failure", cell["last_failure"])):
        if failure:
            parts.append(
                f'<p class="fail">{title}: {escape(failure["reason"])}: '
                f"{escape(failure['sentence'])}</p>\n"
            )
            parts.append(
                _table(
                    ("register", "value"),
                    [
                        ("rip", failure["rip"]),
                        ("address", failure["address"]),
                        *failure["registers"].items(),
                    ],
                )
            )
    try:
        parts.append(_pre(exported(device.info(name), system)))
    except Refused:
        parts.append("<p>it was destroyed meanwhile</p>\n")
    parts.append(_latencies(system, name, device.status().tsc_khz))
    parts.append(_components(system, name, device.status().tsc_khz))
    try:
        with open(dropin.file_of(system.root, name), encoding="utf-8", errors="replace") as stream:
            parts.append(
                f"<p>Its file for systemd, {escape(dropin.file_of('/', name))}:</p>\n"
                f"{_pre(stream.read())}"
            )
    except OSError:
        pass  # no unit keeps it
    return "".join(parts)


def _state(args: Arguments, system: System, device: Device) -> tuple[list[str], list[str]]:
    """Returns the parts of the page that the module knows, and the names of the cells in them."""
    status = status_data(device, system)
    times, found, now = (
        _measured(args, device, system, status["tsc_khz"], device.status().vendor)
        if status["enabled"]
        else ([], [], {})
    )
    colours = svg.colours([*(name for one in found for name in one), *now])
    cells = [moment.cell for moment in now.values() if moment.cell]
    rows = [(key, str(value)) for key, value in status.items() if value is not None]
    parts = [
        _table(("", ""), rows),
        "<h2>Cells</h2>\n",
        "".join(_cell(system, device, cell) for cell in cells) or "<p>none</p>\n",
        _plots(times, found, colours) if times else "",
        _exits(now, colours) if now else "",
    ]
    return parts, [cell["name"] for cell in cells]


def _log(device: Device) -> str:
    log = list(log_lines(device, abi.Log()))[-LOG_LINES:]
    return f"<h2>Log</h2>\n{_pre(chr(10).join(log))}"


def _html(args: Arguments, system: System, device: Device | NotLoaded) -> str:
    """Returns the page. Without a module it has what Linux alone knows."""
    when = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    if isinstance(device, NotLoaded):
        parts, shown, log = [report_machine.not_loaded(device)], list[str](), ""
    else:
        parts, shown = _state(args, system, device)
        log = _log(device)
    checks = Examination(system.facts(), device).run()
    return "".join(
        (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>QV on {escape(platform.node())}</title><style>{STYLE}</style></head><body>\n",
            f"<h1>QV on {escape(platform.node())}</h1>\n"
            f"<p>{escape(when)}; Linux {escape(platform.release())}; "
            f"qvctl {escape(version.own())}</p>\n",
            "<h2>State</h2>\n",
            *parts,
            f"<h2>Machine</h2>\n{_table(('', ''), report_machine.machine(system.facts()))}",
            f"<h2>Files</h2>\n{report_machine.files(system.root, shown, _pre)}",
            "<h2>Doctor</h2>\n",
            _table(
                ("check", "result", "finding", "remedy"),
                [(one.check, one.status, one.what, one.remedy) for one in checks],
            ),
            log,
            f"<h2>Journal</h2>\n{report_machine.journal(system, _pre)}</body></html>\n",
        )
    )


def report(args: Arguments, system: System) -> int:
    device: Device | NotLoaded
    try:
        device = system.device()
    except NotLoaded as refusal:
        device = refusal
    text = _html(args, system, device)
    # it contains command lines of cells and addresses: for its owner alone
    output.save(args.file, text, 0o600)
    loaded = not isinstance(device, NotLoaded)
    if args.json:
        output.as_json({"file": args.file, "bytes": len(text.encode()), "module": loaded})
    else:
        lacks = "" if loaded else "; the module qv is not loaded, so it lacks the state of QV"
        output.line(f"{args.file} is written: one page that needs no network{lacks}")
    return 0
