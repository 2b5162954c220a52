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
OWNERS_OIL = """
CPU owners {
	OS kernel { STATUS = STANDARD; CONSOLE = TRUE; };
	TASK Low { PRIORITY = 1; AUTOSTART = TRUE; RESOURCE = Shared; RESOURCE = Device; };
	TASK High { PRIORITY = 2; RESOURCE = Other; };
	ISR Sensor { CATEGORY = 2; RESOURCE = Taken; };
	RESOURCE Shared; RESOURCE Other; RESOURCE Device; RESOURCE Free; RESOURCE Taken;
};
"""
OWNERS_C = """
#include <inmate/console.h>
#include "os.h"

TASK(Low)
{
	GetResource(Shared);
	ActivateTask(High);
}

TASK(High)
{
	GetResource(Other);
	print("last error %u\\n", os_error_info.last);
	ActivateTask(High);
	print("last error %u\\n", os_error_info.last);
	TriggerISR(Sensor);
}

ISR(Sensor)
{
	GetResource(Taken);
	ShutdownOS(E_OK);
}
"""
DEEP_C = """
#include <inmate/console.h>
#include "os.h"

static int deeper(int n)
{
	volatile char room[256];

	room[0] = (char)n;
	return n < 0 ? 0 : deeper(n + 1) + room[0];
}

TASK(Toggle) { TerminateTask(); }
TASK(Lamp) { print("%d\\n", deeper(1)); }
"""

# The console's ISR activates High, so High runs at the end of the ISR. Low expects ones in registers that High clears.
FLOATS_OIL = """
CPU floats {
	OS kernel { STATUS = EXTENDED; CONSOLE = TRUE; FLOATINGPOINT = TRUE; };
	TASK Low { PRIORITY = 1; AUTOSTART = TRUE; };
	TASK High { PRIORITY = 2; };
};
"""
FLOATS_C = """
#include <inmate/cell.h>
#include <inmate/console.h>
#include "os.h"

void __real_cell_line_status(uint8_t status);
static volatile unsigned int highs;

void __wrap_cell_line_status(uint8_t status)
{
	ActivateTask(High);
	__real_cell_line_status(status);
}

TASK(High)
{
	__asm__ volatile("pxor %%xmm0, %%xmm0; pxor %%xmm9, %%xmm9" : : : "xmm0", "xmm9");
	highs++;
	TerminateTask();
}

TASK(Low)
{
	unsigned long a, b;
	unsigned int before;

	print("busy\\n");
	for (;;) {
		before = highs;
		__asm__ volatile("pcmpeqd %%xmm0, %%xmm0; pcmpeqd %%xmm9, %%xmm9\\n"
				 "1: cmp %2, %3; je 1b\\n"
				 "movq %%xmm0, %0; movq %%xmm9, %1"
				 : "=r"(a), "=r"(b) : "m"(highs), "r"(before)
				 : "cc", "xmm0", "xmm9");
		print("registers %lx %lx\\n", a, b);
	}
}
"""
WRAP = "ERIKA_LDFLAGS += -Wl,--wrap=cell_line_status\n"


def fake_cell(outside: Outside, name: str) -> m.Machine:
    """Boots an application. QEMU wants an image without a space in its path."""
    image = outside.stage / f"{name}.elf"
    image.write_bytes((outside.path / name / f"{name}.elf").read_bytes())
    return m.Machine("-smp", "2", "-kernel", str(m.build_dir() / "inmates/tests/fakecell.elf"), "-initrd", str(image),
                     "-append", "fakecell")


def answer(machine: m.Machine, line: str) -> str:
    """Returns what the console prints after the echo of a line, without the output of the
    application, which may come before and between."""
    machine.send(line + "\r")
    machine.expect(f"(?m){re.escape(line)}\n")
    start = machine.seen
    end = machine.expect(READY).start()
    return re.sub(r"blink \d+: o(?:n|ff)\n", "", machine.text[start:end])


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
        assert answer(machine, "help").count("\n") == 6
        (outside.path / "lamp/log").write_text(answer(machine, "trace"))
        machine.expect(r"blink \d+: o(?:n|ff)\n")
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


def test_console_shows_who_has_taken_each_resource(outside: Outside) -> None:
    """A preempted task, the task that an ISR interrupts, and the ISR. A resource that was never
    taken is free. Debuggers see the last error without ErrorHook(), too."""
    outside.run("qvoil", "new", "owners")
    (outside.path / "owners/owners.oil").write_text(OWNERS_OIL)
    (outside.path / "owners/owners.c").write_text(OWNERS_C)
    outside.run("make", folder="owners")
    with fake_cell(outside, "owners") as machine:
        machine.expect("last error 0\nlast error 4\nerika: shut down, status 0\n")
        shown = dict(re.findall(r"(?m)^(\w+) +\d+ (.+)$", answer(machine, "resources")))
    assert shown == {
        "RES_SCHEDULER": "free", "Shared": "taken by Low", "Other": "taken by High", "Device": "free",
        "Free": "free", "Taken": "taken by an ISR"
    }


def test_console_answers_after_a_failure(outside: Outside) -> None:
    """The map shows which task exhausted its stack, and the trace can still be read."""
    outside.run("qvoil", "new", "deep")
    (outside.path / "deep/deep.c").write_text(DEEP_C)
    outside.run("make", folder="deep")
    with fake_cell(outside, "deep") as machine:
        machine.expect("the stack of Lamp is exhausted: give it a larger STACK in the OIL file\n")
        machine.expect("erika: shut down, status 13\n")
        for _ in range(2):
            assert re.search(r"(?m)^Lamp +2 running +1 +[78]\d{3} +8192 0/0$", answer(machine, "tasks"))
        assert re.search(r"(?m)^State +2 free$", answer(machine, "resources"))
        (outside.path / "deep/log").write_text(answer(machine, "trace"))
    out = outside.run("qvoil", "trace", "log", "--map", "out/os_config.json", "--list", folder="deep")
    assert "RUN Lamp\n" in out and re.search(r"STOP 0 13\n", out)


def test_console_keeps_registers_of_floating_point(outside: Outside) -> None:
    """Those of the task that never waits, when the console answers in its ISR."""
    outside.run("qvoil", "new", "floats")
    folder = outside.path / "floats"
    (folder / "floats.oil").write_text(FLOATS_OIL)
    (folder / "floats.c").write_text(FLOATS_C)
    (folder / "Makefile").write_text((folder / "Makefile").read_text() + WRAP)
    outside.run("make", folder="floats")
    with fake_cell(outside, "floats") as machine:
        machine.expect("busy\n")
        assert "Low " in answer(machine, "tasks")
        assert machine.expect("registers (.*)\n")[1] == "ffffffffffffffff ffffffffffffffff"
