# SPDX-License-Identifier: GPL-2.0-only
"""The console of the OSEK kernel in a fake cell (fakecell/) answers lines while the application
continues."""

import re

import pytest

from lab import bare as m
from lab.outside import Outside

pytestmark = [pytest.mark.usefixtures("built"), pytest.mark.xdist_group("erika-console")]
READY = "\x04"
BUSY_C = """
#include <inmate/console.h>
#include "os.h"

TASK(Toggle) { TerminateTask(); }

TASK(Lamp)
{
	print("busy\\n");
	for (;;)
		;
}
"""


def fake_cell(outside: Outside, name: str) -> m.Machine:
    """Boots an application. QEMU wants an image without a space in its path."""
    image = outside.stage / f"{name}.elf"
    image.write_bytes((outside.path / name / f"{name}.elf").read_bytes())
    return m.Machine("-smp", "2", "-kernel", str(m.build_dir() / "inmates/tests/fakecell.elf"), "-initrd", str(image),
                     "-append", "fakecell")


def answer(machine: m.Machine, line: str) -> str:
    """Returns what the console prints after the echo of a line. Output of the application may come
    before and between."""
    machine.send(line + "\r")
    machine.expect(f"(?m){re.escape(line)}\n")
    start = machine.seen
    end = machine.expect(READY).start()
    return machine.text[start:end]


@pytest.fixture(scope="module")
def outside(built: None, tmp_path_factory: pytest.TempPathFactory) -> Outside:
    return Outside(tmp_path_factory.mktemp("erika-console"))


def test_console_shows_tasks_stacks_alarms_and_the_trace(outside: Outside) -> None:
    outside.run("qvoil", "new", "lamp")
    outside.run("make", folder="lamp")
    with fake_cell(outside, "lamp") as machine:
        machine.expect("blink 1: on\n")
        tasks = answer(machine, "tasks")
        assert re.search(r"(?m)^Toggle +1 suspended +0 +\d+ +8192$", tasks), tasks
        found = re.search(r"(?m)^Lamp +2 waiting +1 +(\d+) +8192 0/1$", tasks)
        assert found and 100 < int(found[1]) < 8192, tasks
        assert re.search(r"(?m)^\(interrupts\) +- - +- +\d+ +8192$", tasks), tasks
        assert re.search(r"(?m)^Half +SystemTimer +in \d+, cycle 500$", answer(machine, "alarms"))
        assert re.search(r"(?m)^State +2 free$", answer(machine, "resources"))
        assert "there is no command `task`; `help`" in answer(machine, "task")
        assert answer(machine, "help").count("\n") == 5
        (outside.path / "lamp/log").write_text(answer(machine, "trace"))
        machine.expect("blink 3: on\n")
        machine.send("\x1ds")
        machine.expect("erika: shut down, status 0\n")
    out = outside.run("qvoil", "trace", "log", "--map", "out/os_config.json", "--list", folder="lamp")
    assert "START 0 " in out and "RUN Toggle\n" in out and out.endswith(" 0 rules broken\n")


def test_console_answers_while_a_task_never_waits(outside: Outside) -> None:
    """Then an interrupt of the lowest class carries out the line, after two heartbeats."""
    outside.run("qvoil", "new", "busy")
    (outside.path / "busy/busy.c").write_text(BUSY_C)
    outside.run("make", folder="busy")
    with fake_cell(outside, "busy") as machine:
        machine.expect("busy\n")
        assert re.search(r"(?m)^Lamp +2 running +1 +\d+ +8192 0/0$", answer(machine, "tasks"))
