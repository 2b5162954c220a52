# SPDX-License-Identifier: GPL-2.0-only
"""The OSEK kernel inmates/erika in a cell, next to Linux and Quest."""

import re
import subprocess
from pathlib import Path

import pytest

from lab.build import OUT
from lab.paths import TOP
from product import Product
from test_watching import until


def screen(qv: Product) -> str:
    return qv.sh("quesh erika --dump")


def blinks(qv: Product) -> int:
    """Returns how often blink has blinked; 0 if it has not yet."""
    return max((int(n) for n in re.findall(r"blink (\d+): o(?:n|ff)", screen(qv))), default=0)


@pytest.mark.parametrize("machine_kind", [
    "amd", pytest.param("intel", marks=[pytest.mark.machine(machine="intel"), pytest.mark.slow])])
def test_blink_next_to_quest(qv: Product, machine_kind: str) -> None:
    """blink continues while Quest runs, shows a heartbeat and no failure, and shuts down on request."""
    qv.run_cell("erika")
    qv.run_cell("quest")
    until(lambda: blinks(qv) >= 3, "three blinks")
    assert qv.quesh("echo up") == "up\n"
    shown = qv.show("erika")
    assert shown["state"] == "running" and shown["heartbeat"] > 0
    before = blinks(qv)
    until(lambda: blinks(qv) > before, "another blink")
    qv.do("cell destroy quest")
    qv.do("cell shutdown erika")
    assert "erika: shut down, status 0" in screen(qv)
    assert qv.show("erika")["state"] == "shut-down"


@pytest.mark.slow
def test_console_shows_tasks_and_the_trace(qv: Product, tmp_path: Path) -> None:
    """Linux asks the application for its tasks and its trace; the trace of a real cell keeps the rules."""
    qv.run_cell("erika")
    until(lambda: blinks(qv) >= 2, "two blinks")
    tasks = qv.sh("quesh erika -c tasks")
    assert re.search(r"(?m)^Toggle +1 suspended +0 +\d+ +8192$", tasks), tasks
    assert re.search(r"(?m)^Lamp +2 waiting +1 +\d+ +8192 0/1$", tasks), tasks
    (tmp_path / "log").write_text(qv.sh("quesh erika -c trace"))
    names = OUT / "inmates/erika/samples/blink/os_config.json"
    read = subprocess.run([TOP / "inmates/erika/qvoil", "trace", tmp_path / "log", "--map", names, "--list"],
                          capture_output=True, text=True, check=False)
    assert read.returncode == 0 and "RUN Toggle\n" in read.stdout, read.stdout + read.stderr
    assert read.stdout.endswith(" 0 lines damaged, 0 rules broken\n")
    told = qv.ask("cell tasks erika")
    assert [(task["name"], task["stack"]["size"]) for task in told["tasks"]] == [("Toggle", 8192), ("Lamp", 8192)]
    assert "there is no command `nonsense`" in qv.sh("quesh erika -c nonsense; test $? = 127")


@pytest.mark.slow
def test_latency_of_alarms_is_shown(qv: Product) -> None:
    """The sample has one alarm, which activates a task. Each life begins with an empty histogram."""
    qv.run_cell("erika")
    until(lambda: blinks(qv) >= 3, "three blinks")
    alarm, task = qv.ask("latency erika")["histograms"]
    assert alarm["name"] == "Half" and alarm["count"] >= 3
    assert alarm["min_ns"] <= alarm["p50_ns"] <= alarm["p99_ns"] <= alarm["max_ns"] <= alarm["sum_ns"]
    assert alarm["missed"] <= alarm["count"]
    assert task["name"] == "Toggle" and task["count"] >= 3
    assert "Half" in qv.do("latency erika")
