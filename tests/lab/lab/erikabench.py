# SPDX-License-Identifier: GPL-2.0-only
"""
python3 -m lab.erikabench xapic|x2apic FOLDER

Builds the application that measures the OSEK kernel, with 8 to 64 tasks, and runs it alone on a
machine whose clock counts instructions. Prints the costs as JSON: by the number of tasks and by the
field's names, samples, min, mean and max. FOLDER gets the images for cells: cost8.elf to
cost64.elf.
"""

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import alone, build, enter, roots
from . import bare as m
from .errors import LabError
from .outside import Outside
from .paths import LAB, TOP

GOAL = 1.02
SOURCE = TOP / "inmates/tests/erika/cost/cost.c"
TASKS = (8, 16, 32, 64)
NAMES = ("act", "actl", "intdisable", "intenable", "isrentry", "isrexit", "isr2entry", "isr2exit",
         "istentry", "istexit", "terml", "alarm")
# ERIKA 2 (BCC1) on a Cortex-M4, as its authors published it: cycles of that processor
PUBLISHED = {"act": 314, "actl": 164, "isrentry": 59, "isrexit": 48, "isr2entry": 100, "isr2exit": 168,
             "istentry": 335, "istexit": 668, "terml": 275}
# A queue may be empty or not, so a cost may differ by this many instructions
SAME = 4
END = "erika: shut down, status 0\n"
OIL = """
CPU cost {
	OS kernel { STATUS = STANDARD; TRACE = %(trace)s; };
	APPMODE normal;
	TASK Low { PRIORITY = 1; AUTOSTART = TRUE; };
	%(fillers)s
	TASK Main { PRIORITY = %(main)d; };
	TASK High { PRIORITY = %(high)d; };
	ISR Two { CATEGORY = 2; PRIORITY = 1; };
	ISR Wakes { CATEGORY = 2; PRIORITY = 2; };
	ISR One { CATEGORY = 1; PRIORITY = 9; };
	COUNTER Millisecond { MAXALLOWEDVALUE = 65535; SECONDSPERTICK = 0.001; };
	ALARM EveryMillisecond {
		COUNTER = Millisecond; ACTION = ALARMCALLBACK { ALARMCALLBACKNAME = "expire"; };
	};
};
"""
MAKEFILE = """OIL := cost.oil
SRC := cost.c
CFLAGS := -O2
include $(shell pkg-config --variable=makefragment qv-erika)
"""

Costs = dict[str, tuple[int, ...]]  # samples, min, mean, max


def image_of(outside: Outside, tasks: int, trace: bool = False) -> Path:
    """Builds the application with this number of tasks. Returns the folder with its images."""
    fillers = [f"F{n}" for n in range(1, tasks - 2)]
    folder = outside.path / f"cost {tasks}{' trace' if trace else ''}"
    folder.mkdir()
    text = "\n\t".join(f"TASK {name} {{ PRIORITY = {n}; }};" for n, name in enumerate(fillers, 2))
    (folder / "cost.oil").write_text(
        OIL % {"fillers": text, "main": tasks - 1, "high": tasks, "trace": str(trace).upper()})
    (folder / "cost.c").write_text(SOURCE.read_text())
    listed = " ".join(f"X({name})" for name in fillers)
    (folder / "fillers.h").write_text(f"#define FILLERS(X) {listed}\n")
    (folder / "Makefile").write_text(MAKEFILE)
    outside.run("make", folder=folder.name)
    return folder


def parsed(text: str) -> Costs:
    """Returns the costs that the application printed."""
    rows = re.findall(r"(?m)^cost (\w+) samples=(\d+) min=(\d+) mean=(\d+) max=(\d+) *$", text)
    found = {name: tuple(map(int, numbers)) for name, *numbers in rows}
    if tuple(found) != NAMES:
        raise LabError(f"the OSEK application did not print all costs:\n{text[-2000:]}", "see its output")
    return found


def measured(image: Path, mode: str = "xapic") -> Costs:
    """Runs an image alone, with its APIC in a mode of lab.alone."""
    cpu, accel = alone.MODES[mode]
    with m.Machine(*m.COUNTED, "-cpu", cpu, "-kernel", str(image), accel=accel) as machine:
        machine.expect(END, alone.SECONDS)
        return parsed(machine.text)


def alone_costs(mode: str, folder: Path) -> dict[int, Costs]:
    """Does what this module's command does, in the tool root. Keys are numbers of tasks."""
    done = enter.run(roots.ensure("tool"), ["python3", "-B", "-m", "lab.erikabench", mode, str(folder)],
                     {"PYTHONPATH": str(LAB), "O": str(build.OUT)})
    if done.returncode:
        raise LabError(f"the OSEK kernel alone ({mode}) was not measured:\n{done.stdout[-2000:]}", "see its output")
    found = json.loads(done.stdout.splitlines()[-1])
    return {int(tasks): {name: tuple(row) for name, row in costs.items()}
            for tasks, costs in found.items()}


def growing(costs: dict[int, Costs]) -> list[str]:
    """Returns the costs that grow with the number of tasks."""
    few = costs[TASKS[0]]
    return [name for name in NAMES
            if any(costs[tasks][name][2] > few[name][2] + SAME for tasks in TASKS[1:])]


def ratios(base: Costs, cell: Costs) -> dict[str, float]:
    """Returns the cost of a cell: its minima by those alone. The emulator runs CPUs in turns, and
    larger values may include turns of Linux's CPUs."""
    return {name: round(cell[name][1] / base[name][1], 4) for name in NAMES if base[name][1]}


def rows(found: dict[str, Any]) -> list[tuple[str, ...]]:
    """Returns the rows of the table of `make bench`."""
    listed = []
    for name in NAMES:
        base, cell = found["alone"][name], found["cell"][name]
        ratio = found["ratio"].get(name)
        verdict = "-" if ratio is None else "met" if ratio <= GOAL else "OVER"
        listed.append((name, *map(str, base), *map(str, cell), "-" if ratio is None else f"{ratio:.3f}", verdict,
                       str(PUBLISHED.get(name, "-"))))
    return listed


def main(mode: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    with tempfile.TemporaryDirectory() as base:
        outside = Outside(Path(base))
        for tasks in TASKS:
            made = image_of(outside, tasks)
            shutil.copy(made / "cost.elf", folder / f"cost{tasks}.elf")
            found[tasks] = measured(made / "cost32.elf", mode)
    print(json.dumps(found))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in alone.MODES:
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]))
