# SPDX-License-Identifier: GPL-2.0-only
"""Temporal isolation inside a cell: a flood of doorbells, many VCPUs, the picture of the schedule.

The machine's clock counts instructions."""

import contextlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.paths import BUILD, TOP
from product import Product, module
from test_watching import until

DOORBELL, FIRST_CELL = 6, 1     # QV_HC_DOORBELL, and the instance of the first cell
QVCALL = "/sys/module/qvcall/parameters"
PICTURE = BUILD / "quest-schedule.svg"
SVG = "{http://www.w3.org/2000/svg}"

pytestmark = pytest.mark.machine(icount=True)


def vcpus(qv: Product) -> dict[str, list[str]]:
    """Returns by name: id, name, type, C, T, used, background, share, columns of `vcpus counts`."""
    rows, counts = ({line.split()[1]: line.split()
                     for line in qv.quesh(command, timeout=120).splitlines()[1:]
                     if not line.startswith("scheduling")} for command in ("vcpus", "vcpus counts"))
    return {name: row + counts.get(name, [])[2:] for name, row in rows.items()}


def now(qv: Product) -> float:
    """Returns Quest's uptime in ms."""
    found = re.search(r"up (\d+\.\d+) s", qv.quesh("uptime", timeout=120))
    assert found
    return float(found[1]) * 1000


@contextlib.contextmanager
def linux_repeats(qv: Product, deed: str) -> Iterator[None]:
    """Runs a command on one CPU of Linux again and again. The emulator executes CPUs round-robin by
    instruction counts, so a cell's programs take longer while another CPU is busy. Therefore this
    waits until the loop has begun."""
    qv.sh("touch /run/go-on")
    work = qv.machine.start(f"exec taskset -c 1 bash -c '{deed}; echo begun; while test -e /run/go-on; do {deed}; done'")
    until(lambda: b"begun" in work.output, "the loop on Linux's CPU", 60)
    yield
    qv.sh("rm /run/go-on")
    qv.machine.finish(work, 120)
    assert work.rc == 0, work.output


def prime(qv: Product) -> int:
    """Returns the CPU time in us of a program with a fixed amount of work."""
    found = re.search(r"17984 primes below 200000, (\d+) us", qv.quesh("prime 200000", timeout=600))
    assert found
    return int(found[1])


def late(qv: Product) -> int:
    """Returns the p99 in ns of the wake-up latency of a thread in the cell, over 10,000 periods of 50
    to 250 us."""
    found = re.search(r"timer rounds=10000 .* p99=(\d+) ", qv.quesh("bench timer", timeout=600))
    assert found
    return int(found[1]) * 1_000_000 // int(qv.ask("status")["tsc_khz"])


@pytest.fixture
def ringer(qv: Product) -> Iterator[str]:
    """Yields a command that makes Linux's kernel ring the cell's doorbell a thousand times."""
    qv.run_cell()
    qv.machine.put(module("qvcall", qv.machine.config.kernel), "/run/qvcall.ko")
    qv.sh("insmod /run/qvcall.ko")
    yield f"echo 1000 {DOORBELL:x} {FIRST_CELL:x} >{QVCALL}/again"
    qv.sh("rmmod qvcall")


@pytest.mark.slow
def test_doorbell_flood_is_charged_to_its_vcpu(qv: Product, ringer: str) -> None:
    """Upper bound: the I/O VCPU runs for at most U * (t + T). Lower bound: a Main VCPU has its budget
    in each period. A program takes hardly longer than while Linux is busy with other work: 10 bells
    per millisecond pass. The p99 of the cell's period was 1.03 to 1.15 of the undisturbed one in
    three runs; the goal is 1.05."""
    assert qv.quesh("load 20 100") == ""
    with linux_repeats(qv, ":"):
        quiet, quiet_late = prime(qv), late(qv)
    with linux_repeats(qv, ringer):
        begin, before, begun = now(qv), vcpus(qv), now(qv)
        qv.quesh("sleep 500", timeout=600)
        flooded, flooded_late = prime(qv), late(qv)
        end, after, ended = now(qv), vcpus(qv), now(qv)
    print(f"prime {quiet} {flooded} us, late {quiet_late} {flooded_late} ns, "
          f"bells {int(after['input'][12]) - int(before['input'][12])} in {end - begin:.0f} ms")
    used = float(after["input"][5]) - float(before["input"][5])
    assert int(after["input"][12]) - int(before["input"][12]) >= 100
    # 1 ms more, since the program may be stopped late
    assert used <= 0.02 * (ended - begin + 100) + 1
    assert float(after["load1"][5]) - float(before["load1"][5]) >= 20 * ((end - begun) // 100 - 1)
    # A doorbell costs about 9 us here: three writes to the xAPIC, and each write is an exit
    assert flooded <= 1.15 * quiet, (flooded, quiet)
    # The shortest period of a thread is 50,000 ns
    assert 50_000 + flooded_late <= 1.25 * (50_000 + quiet_late), (flooded_late, quiet_late)


@pytest.mark.slow
def test_24_vcpus_get_their_budgets_and_trace_is_drawn(qv: Product, tmp_path: Path) -> None:
    """Each VCPU has its budget in every period. questtrace draws a row for each VCPU, and a bar for
    each time in which that VCPU had the CPU."""
    qv.run_cell()
    for _ in range(24):
        assert qv.quesh("load 1 100") == ""
    assert "above the utilisation bound" in qv.quesh("load 30 100")
    qv.quesh("sleep 1000", timeout=240)
    rows = [row for name, row in vcpus(qv).items() if name.startswith("load")]
    assert len(rows) == 24
    for row in rows:
        # The columns are ms used, and share in percent. The share is 1/100, and more in a period
        # that has just begun
        assert float(row[5]) >= 8 and float(row[7]) <= 1.2, rows
    log = qv.quesh("trace", timeout=240)
    (tmp_path / "log").write_text(log)
    check_picture(tmp_path / "log")
    qv.quesh("load stop", timeout=240)
    assert qv.show()["state"] == "running"


def check_picture(log: Path) -> None:
    subprocess.run([sys.executable, str(TOP / "inmates/quest/sim/questtrace"), str(log), str(PICTURE)], check=True)
    root = ElementTree.parse(PICTURE).getroot()
    bars = [(found[1], int(found[2]), int(found[3]), bar.get("y"))
            for bar in root.iter(SVG + "rect") for title in bar.iter(SVG + "title")
            if (found := re.fullmatch(r".+?: (.+), (\d+) to (\d+) us", title.text or ""))]
    lines = [line.split(maxsplit=3) for line in log.read_text().splitlines()]
    # The last line of the log has no end
    drawn = [(a, b) for a, b in zip(lines, lines[1:]) if a[2] != "idle" and a[0] != b[0]]
    assert [bar[:3] for bar in bars] == [(a[3], int(a[0]), int(b[0])) for a, b in drawn]
    loaded = next(i for i, line in enumerate(lines) if line[3] == "load24")
    assert "idle" not in [line[2] for line in lines[loaded:]] and len(lines) - loaded > 300
    rows: dict[str, set[str | None]] = {}
    for bar, (line, _) in zip(bars, drawn):
        rows.setdefault(line[1], set()).add(bar[3])
    assert all(len(ys) == 1 for ys in rows.values())
    assert len(set().union(*rows.values())) == len(rows) >= 24
