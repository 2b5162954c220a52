# SPDX-License-Identifier: GPL-2.0-only
"""The pictures of Documentation/pictures: `qvctl top`, quesh and the report draw them, on a driver
and a console that exist only here."""

from __future__ import annotations

import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from html import escape
from pathlib import Path

import pytest
from fakeshell import FakeShell
from running import Run
from test_cli_latency import page

from qv import abi
from qv.transcript import LATENCY, Transcript

PICTURES = Path(__file__).resolve().parents[2] / "Documentation/pictures"
QUESH = os.environ.get("QUESH", "")
SPACE = "http://www.w3.org/2000/svg"
ROW, COLUMN, EDGE = 17, 8, 10  # of a character, and around the text
LICENCE = "<!-- SPDX-License-Identifier: GPL-2.0-only -->\n"


def terminal(text: str) -> str:
    """Returns a picture of lines on a dark terminal."""
    lines = text.rstrip("\n").split("\n")
    width, height = max(map(len, lines)) * COLUMN + 2 * EDGE, len(lines) * ROW + 2 * EDGE
    rows = "".join(
        f'<text x="{EDGE}" y="{EDGE + 13 + ROW * at}" textLength="{len(line) * COLUMN}" xml:space="preserve">{escape(line)}</text>\n'
        for at, line in enumerate(lines) if line.strip())
    return (f'{LICENCE}<svg xmlns="{SPACE}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="monospace" font-size="13">\n<rect width="{width}" height="{height}" rx="6" fill="#1e1e1e"/>\n'
            f'<g fill="#d8d8d8">\n{rows}</g></svg>\n')


def compare(picture: str, name: str, tmp_path: Path) -> None:
    """Fails if the picture of the documents is another one."""
    ElementTree.fromstring(picture)
    new, old = tmp_path / name, PICTURES / name
    new.write_text(picture, encoding="utf-8")
    same = old.exists() and old.read_text(encoding="utf-8") == picture
    assert same, f"the picture has changed; if it is right: cp {new} {old}"


def at_work(run: Run) -> None:
    """The cell beats four times a second, has work for a varying part of the time, and makes no
    exits after its start."""
    run.create("--start")
    run.device.enabled = True
    info = run.device.cells["quest"]
    info.state, info.idle_cpus = abi.State.RUNNING, 1
    of_linux = run.device.stats

    def stats(name: str, reset_held: bool = False) -> list[abi.CpuStats]:
        if name == abi.FRONT_END:
            return of_linux(name, reset_held)
        mine = abi.CpuStats(cpu=3, apic_id=3)
        mine.exits[abi.Exit.CPUID] = 12
        return [mine]
    run.device.stats = stats  # type: ignore[method-assign]
    slept, shares = run.system.sleep, [0.997, 0.6, 0.45, 0.7, 0.9]

    def second(seconds: float) -> None:
        slept(seconds)
        info.heartbeat += int(4 * seconds)
        shares.append(shares.pop(0))
        info.idle_cycles += int(seconds * 2e9 * shares[-1])
    run.system.sleep = second  # type: ignore[method-assign]


def test_picture_of_top(run: Run, tmp_path: Path) -> None:
    at_work(run)
    measured = page((b"shell", 61_000, 24_600, 1_000, 0, {4: 40, 7: 1}))
    (tmp_path / "quest").mkdir()
    (tmp_path / "quest/console").write_bytes(bytes(LATENCY) + measured + bytes(0x4000))
    run.system.transcript = lambda name: Transcript(name, str(tmp_path))  # type: ignore[assignment]
    assert run("top", "-n", "1", "--interval", "1") == 0, run.err
    compare(terminal(f"# qvctl top -n 1\n{run.out}"), "top.svg", tmp_path)


SESSION = (b"Quest on 1 CPU, 64 MiB", b"", b"> vcpu=control prime 100", b"prime: 25 primes below 100, 1340 us of CPU",
           b"> uptime", b"up 1.825 s, idle 1.789 s", b"> ")


@pytest.mark.skipif(not QUESH, reason="make check names the program in QUESH")
def test_picture_of_quesh(tmp_path: Path) -> None:
    with FakeShell(tmp_path) as shell:
        for row, line in enumerate(SESSION):
            shell.screen(row, 0, line)
        done = subprocess.run([QUESH, "--folder", str(tmp_path), "quest", "--dump"], capture_output=True, check=True,
                              text=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, "LC_ALL": "C.UTF-8", "ASAN_OPTIONS": "detect_leaks=0"})
    compare(terminal(done.stdout), "quesh.svg", tmp_path)


def test_picture_of_the_report(run: Run, tmp_path: Path) -> None:
    """The plots of the page, one above the other."""
    at_work(run)
    assert run("report", str(tmp_path / "r.html"), "-n", "5", "--interval", "1") == 0, run.err
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    parts, y = [], 0
    for title, plot, height in re.findall(r'<h3>([^<]*)</h3>\n(<svg .*?height="([0-9]+)".*?</svg>)', page):
        parts.append(f'<text x="0" y="{y + 16}" font-weight="bold">{title}</text>\n')
        parts.append(plot.replace("<svg ", f'<svg y="{y + 26}" ', 1) + "\n")
        y += 36 + int(height)
    assert len(parts) == 10, "three plots over time, and the exits of Linux and of the cell"
    compare(f'{LICENCE}<svg xmlns="{SPACE}" viewBox="-10 -6 660 {y + 6}" width="660" height="{y + 6}" font-family="sans-serif" '
            f'font-size="14">\n<rect x="-10" y="-6" width="660" height="{y + 6}" fill="white"/>\n{"".join(parts)}</svg>\n',
            "report.svg", tmp_path)
