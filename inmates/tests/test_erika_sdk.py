# SPDX-License-Identifier: GPL-2.0-only
"""Applications for the OSEK kernel, built outside the tree with the installed files."""
import json
import re
import subprocess
from collections.abc import Iterator

import pytest

from lab import bare as m
from lab.outside import Outside

FLOATS_OIL = """CPU floats {
	OS kernel { STATUS = EXTENDED; FLOATINGPOINT = TRUE; };
	TASK Low { PRIORITY = 1; AUTOSTART = TRUE; };
	TASK High { PRIORITY = 2; };
	ISR Fast { CATEGORY = 1; };
	COUNTER Time { MAXALLOWEDVALUE = 1000000; SECONDSPERTICK = 0.00001; };
	ALARM Often { COUNTER = Time; ACTION = ACTIVATETASK { TASK = High; };
		AUTOSTART = TRUE { ALARMTIME = 1; CYCLETIME = 3; }; };
	ALARM Seldom { COUNTER = Time; ACTION = ALARMCALLBACK { ALARMCALLBACKNAME = "Call"; };
		AUTOSTART = TRUE { ALARMTIME = 2; CYCLETIME = 7; }; };
};
"""
FLOATS_C = """#include <inmate/console.h>
#include "os.h"

static volatile unsigned int tasks, calls, fasts, steps = 2000;

static double __attribute__((noinline)) series(unsigned int n, double first)
{
	double sum = first, product = 1.0, mean = 0.5;
	unsigned int i;

	for (i = 1; i <= n; i++) {
		sum += 1.0 / ((double)i * i);
		product *= 1.0 + 1.0 / (i * 3.0);
		mean = (mean + sum * product) / 2.0;
	}
	return sum + product * mean;
}

ALARMCALLBACK(Call) { static double last; last = series(5, last); calls++; }
ISR(Fast) { static float last; last = (float)series(3, last); fasts++; }
TASK(High)
{
	static float last = 0.5f;

	last = last * 0.5f + (float)series(4, last);
	tasks++;
	TriggerISR(Fast);
	TerminateTask();
}

TASK(Low)
{
	unsigned int i, wrong = 0;
	double right;

	DisableAllInterrupts();
	right = series(steps, 1.0);
	EnableAllInterrupts();
	for (i = 0; i < 300; i++)
		wrong += series(steps, 1.0) != right;
	print("floats: %u wrong, interrupted %s\\n", wrong,
	      tasks > 100 && calls > 50 && fasts > 100 ? "often" : "too seldom");
	ShutdownOS(E_OK);
}
"""
CONTROL_OIL = """CPU control {
	OS kernel { STATUS = EXTENDED; FLOATINGPOINT = TRUE; };
	TASK Low { PRIORITY = 1; AUTOSTART = TRUE; };
	TASK High { PRIORITY = 2; };
	TASK Waits { PRIORITY = 3; EVENT = Go; };
	EVENT Go;
};
"""
CONTROL_C = """#include <inmate/console.h>
#include "os.h"

static void show(const char *name)
{
	unsigned int mxcsr;
	unsigned short x87;

	__asm__ volatile("stmxcsr %0; fnstcw %1" : "=m"(mxcsr), "=m"(x87));
	print("%s %x %x\\n", name, mxcsr & 0xffc0, x87);
}

/* 0 to 3: rounds to nearest, down, up, to zero */
static void round_by(unsigned int way)
{
	unsigned int mxcsr = 0x1f80 | way << 13;
	unsigned short x87 = (unsigned short)(0x37f | way << 10);

	__asm__ volatile("ldmxcsr %0; fldcw %1" : : "m"(mxcsr), "m"(x87));
}

TASK(Waits)
{
	show("waits");
	round_by(1);
	WaitEvent(Go);
	show("waited");
	TerminateTask();
}

TASK(High)
{
	show("high");
	round_by(2);
	SetEvent(Waits, Go);
	show("high");
	TerminateTask();
}

TASK(Low)
{
	show("low");
	round_by(3);
	ActivateTask(Waits);
	show("low");
	ActivateTask(High);
	show("low");
	ShutdownOS(E_OK);
}
"""
# Names that the kernel and the library of inmates have, too
NAMES_C = ("""#include <inmate/console.h>
#include "os.h"

int os = 5, boot_mode = 3;
void timer_init(void);
unsigned int serial_write(const char *text);

void *memcpy(void *to, const void *from, unsigned long size)
{
	unsigned long i;

	for (i = 0; i < size; i++)
		((char *)to)[i] = ((const char *)from)[size - 1 - i];
	return to;
}

TASK(Toggle)
{
	char text[3] = "";

	timer_init();
	memcpy(text, "ab", 2);
	print("%s %d %d %u\\n", text, os, boot_mode, serial_write("x"));
	SetEvent(Lamp, Toggled);
	TerminateTask();
}

TASK(Lamp)
{
	WaitEvent(Toggled);
	ShutdownOS(E_OK);
}
""", """extern int os;
void timer_init(void) { os += 10; }
unsigned int serial_write(const char *text) { return *text; }
void device_end(void) { os = 0; }
""")
# The lines that each sample prints, as its README says
SAYS = {
    "blink": "blink 1: on\nblink 2: off\nblink 3: on\n",
    "engine": "engine: cycle 1, 4 injections, 4 sparks, 11 controls, 410 ul\n"
    "engine: cycle 2, 8 injections, 8 sparks, 23 controls, 500 ul\n"
}


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    yield Outside(tmp_path_factory.mktemp("erika"))


@pytest.mark.parametrize("example", SAYS)
def test_new_application_runs_alone(outside: Outside, example: str) -> None:
    """The three commands of the README: new, make, and the machine of `make run`, with a clock that
    counts instructions."""
    outside.run("qvoil", "new", f"my {example}", "--example", example)
    assert "warning:" not in outside.run("make", folder=f"my {example}")
    image = outside.path / f"my {example}" / f"my-{example}32.elf"
    with m.Machine("-kernel", str(image), *m.COUNTED) as machine:
        last = SAYS[example].splitlines()[-1]
        machine.expect(last)
        assert SAYS[example].rstrip() in machine.text
    readme = (outside.path / f"my {example}" / "README.md").read_text()
    assert all(line in readme for line in SAYS[example].splitlines()[:2])


def test_interrupts_keep_registers_of_floating_point(outside: Outside) -> None:
    """A task computes while a task, a callback and an ISR of category 1 interrupt it and compute.
    Without FLOATINGPOINT this code does not compile."""
    outside.run("qvoil", "new", "floats")
    folder = outside.path / "floats"
    (folder / "floats.oil").write_text(FLOATS_OIL.replace("FLOATINGPOINT = TRUE; ", ""))
    (folder / "floats.c").write_text(FLOATS_C)
    assert "SSE" in outside.run("make", folder="floats", status=2)
    (folder / "floats.oil").write_text(FLOATS_OIL)
    assert "warning:" not in outside.run("make", folder="floats")
    assert "-mgeneral-regs-only" not in (folder / "compile_commands.json").read_text()
    with m.Machine("-kernel", str(folder / "floats32.elf"), *m.COUNTED) as machine:
        machine.expect("floats: 0 wrong, interrupted often\n")
        machine.expect("erika: shut down, status 0\n")


def test_tasks_have_control_words_of_floating_point_of_their_own(outside: Outside) -> None:
    """A task that rounds in another way calls services that let other tasks run. These begin with the first
    values."""
    outside.run("qvoil", "new", "control")
    folder = outside.path / "control"
    (folder / "control.oil").write_text(CONTROL_OIL)
    (folder / "control.c").write_text(CONTROL_C)
    assert "warning:" not in outside.run("make", folder="control")
    with m.Machine("-kernel", str(folder / "control32.elf"), *m.COUNTED) as machine:
        machine.expect("erika: shut down, status 0\n")
        said = re.findall(r"(?m)^(waits|waited|high|low) (\w+) (\w+)$", machine.text)
    assert said == [("low", "1f80", "37f"), ("waits", "1f80", "37f"), ("low", "7f80", "f7f"), ("high", "1f80", "37f"),
                    ("waited", "3f80", "77f"), ("high", "5f80", "b7f"), ("low", "7f80", "f7f")]


def test_application_may_have_names_of_the_libraries(outside: Outside) -> None:
    """The application calls its own functions, and the kernel those of its library. Nothing is
    renamed any longer when the application has none."""
    outside.run("qvoil", "new", "names")
    folder = outside.path / "names"
    code = (folder / "names.c").read_text()
    (folder / "Makefile").write_text((folder / "Makefile").read_text().replace(
        "names.c", "names.c more.c"))
    for name, text in zip(("names.c", "more.c"), NAMES_C):
        (folder / name).write_text(text)
    outside.run("make", folder="names")
    with m.Machine("-kernel", str(folder / "names32.elf"), *m.COUNTED) as machine:
        machine.expect("ba 15 3 120\n")
        machine.expect("erika: shut down, status 0\n")
    (folder / "names.c").write_text(code)
    (folder / "more.c").write_text("")
    outside.run("make", folder="names")
    with m.Machine("-kernel", str(folder / "names32.elf"), *m.COUNTED) as machine:
        machine.expect("blink 1: on\n")


def test_change_of_the_oil_file_is_seen(outside: Outside) -> None:
    outside.run("qvoil", "new", "change")
    outside.run("make", folder="change")
    assert "Nothing to be done" in outside.run("make", folder="change")
    oil = outside.path / "change/change.oil"
    oil.write_text(oil.read_text().replace("PRIORITY = 1;", "PRIORTY = 1;"))
    said = outside.run("make", folder="change", status=2)
    wrong = "TASK Toggle: PRIORTY is not an attribute here (perhaps PRIORITY)"
    assert f"change.oil:15:3: {wrong}\n" in said
    oil.write_text(oil.read_text().replace("PRIORTY = 1;", "PRIORITY = 2;"))
    outside.run("make", folder="change")
    assert "ERIKA_QUEUE := multi" in (outside.path / "change/out/os_config.mk").read_text()
    outside.run("make", "clean", folder="change")
    assert sorted(path.name for path in (outside.path / "change").iterdir()) == [
        "Makefile", "README.md", "change.c", "change.oil", "change.yaml", "compile_commands.json"
    ]


def test_task_without_a_function_is_an_error_in_the_oil_file(outside: Outside) -> None:
    """The linker never sees it."""
    outside.run("qvoil", "new", "absent")
    path = outside.path / "absent/absent.c"
    path.write_text(path.read_text().replace("TASK(Toggle)", "TASK(Togle)"))
    said = outside.run("make", folder="absent", status=2)
    wrong = "TASK Toggle: no source file has TASK(Toggle) (absent.c has TASK(Togle))"
    assert f"absent.oil:14:7: {wrong}\n" in said and "undefined reference" not in said
    assert "absent.c:13:1: warning: TASK(Togle) never runs" in said
    path.write_text(path.read_text().replace("TASK(Togle)", "TASK(Toggle)"))
    assert "warning:" not in outside.run("make", folder="absent")


def test_first_make_with_a_wrong_oil_file_says_only_that(outside: Outside) -> None:
    """make, which includes a generated file, names no line of QV's rules for it."""
    outside.run("qvoil", "new", "wrong")
    path = outside.path / "wrong/wrong.oil"
    path.write_text(path.read_text().replace("PRIORITY = 1;", "PRIORTY = 1;"))
    for _ in range(2):
        said = outside.run("make", folder="wrong", status=2).splitlines()
        found = [line for line in said if "wrong.oil:15:3: " in line or "No such file" in line]
        assert len(found) == 1 and found[0].startswith("wrong.oil:15:3: TASK Toggle: PRIORTY "), said
    path.write_text(path.read_text().replace("PRIORTY = 1;", "PRIORITY = 1;"))
    outside.run("make", folder="wrong")
    assert "Nothing to be done" in outside.run("make", folder="wrong")


def test_compilation_database_names_all_sources(outside: Outside) -> None:
    outside.run("qvoil", "new", "data")
    outside.run("make", folder="data")
    entries = json.loads((outside.path / "data/compile_commands.json").read_text())
    assert [entry["file"] for entry in entries] == ["data.c", "out/os_config.c"]
    for entry in entries:
        subprocess.run([*entry["arguments"], "-fsyntax-only"], cwd=entry["directory"], check=True)


@pytest.mark.parametrize(("variable", "target", "package"), [
    ("CC", "all", "gcc"), ("OBJCOPY", "all", "binutils"), ("QEMU", "run", "qemu-system-x86")])
def test_missing_tool_is_named(outside: Outside, variable: str, target: str, package: str) -> None:
    folder = f"no-{package}"
    outside.run("qvoil", "new", folder)
    r = subprocess.run(["make", f"{variable}=absent-tool -m64", target], cwd=outside.path / folder,
                       env=outside.environment, text=True, check=False, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    assert r.returncode != 0
    assert f"absent-tool is not installed: apt install {package}" in r.stdout


def test_symbols_of_the_map_are_in_the_image(outside: Outside) -> None:
    outside.run("qvoil", "new", "map", "--example", "engine")
    outside.run("make", folder="map")
    known = json.loads((outside.path / "map/out/os_config.json").read_text())
    symbols = set(outside.run("nm", "out/map.debug.elf", folder="map").split())
    assert {known["symbols"][part]
            for part in ("state", "tasks", "counters", "alarms", "tables")} <= symbols
    assert {task["stack"]["symbol"] for task in known["tasks"]} <= symbols
    assert known["isr_stack"]["symbol"] in symbols
