# SPDX-License-Identifier: GPL-2.0-only
"""The cost of the services of the OSEK kernel, alone on a machine whose clock counts instructions. It
does not grow with the number of tasks."""

import re
from pathlib import Path

import pytest

from lab import bare as m
from lab.paths import TOP
from test_erika_sdk import Outside

# one worker for all, since they share the measurement
pytestmark = pytest.mark.xdist_group("erika-cost")
HERE = Path(__file__).parent
TASKS = (8, 16, 32, 64)
NAMES = ("act", "actl", "intdisable", "intenable", "isrentry", "isrexit", "isr2entry", "isr2exit",
         "istentry", "istexit", "terml", "alarm")
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
    """Builds the application with this number of tasks. Returns its image."""
    fillers = [f"F{n}" for n in range(1, tasks - 2)]
    folder = outside.path / f"cost {tasks}{' trace' if trace else ''}"
    folder.mkdir()
    text = "\n\t".join(f"TASK {name} {{ PRIORITY = {n}; }};" for n, name in enumerate(fillers, 2))
    (folder / "cost.oil").write_text(
        OIL % {"fillers": text, "main": tasks - 1, "high": tasks, "trace": str(trace).upper()})
    (folder / "cost.c").write_text((HERE / "erika/cost/cost.c").read_text())
    listed = " ".join(f"X({name})" for name in fillers)
    (folder / "fillers.h").write_text(f"#define FILLERS(X) {listed}\n")
    (folder / "Makefile").write_text(MAKEFILE)
    outside.run("make", folder=folder.name)
    return folder / "cost32.elf"


def measured(image: Path) -> Costs:
    with m.Machine("-kernel", str(image), *m.COUNTED) as machine:
        machine.expect("erika: shut down, status 0\n")
        rows = re.findall(r"(?m)^cost (\w+) samples=(\d+) min=(\d+) mean=(\d+) max=(\d+)$",
                          machine.text)
    return {name: tuple(map(int, numbers)) for name, *numbers in rows}


@pytest.fixture(scope="module")
def outside(built: None, tmp_path_factory: pytest.TempPathFactory) -> Outside:
    return Outside(tmp_path_factory.mktemp("erika-cost"))


@pytest.fixture(scope="module")
def costs(outside: Outside) -> dict[int, Costs]:
    """Returns the costs by the number of tasks."""
    return {tasks: measured(image_of(outside, tasks)) for tasks in TASKS}


@pytest.mark.parametrize("name", NAMES)
def test_cost_does_not_grow_with_the_number_of_tasks(costs: dict[int, Costs], name: str) -> None:
    """A decision may need another instruction or two, since a queue may be empty or not."""
    few = costs[TASKS[0]][name]
    for tasks in TASKS[1:]:
        samples, *many = costs[tasks][name]
        assert samples >= few[0] and all(abs(a - b) <= 4 for a, b in zip(few[1:], many)), costs


def test_page_has_the_costs(costs: dict[int, Costs]) -> None:
    """Compilers differ by some instructions."""
    page = (TOP / "Documentation/reference/erika.md").read_text()
    number = r"(\d+) \| "
    rows = re.findall(rf"(?m)^\| `(\w+)` \|.*\| {4 * number}.*\|$", page)
    shown = {name: tuple(map(int, numbers)) for name, *numbers in rows}
    assert tuple(shown) == NAMES
    for name, (samples, *numbers) in costs[64].items():
        assert samples == shown[name][0]
        differences = [abs(a - b) for a, b in zip(numbers, shown[name][1:])]
        assert max(differences) <= max(4, 0.1 * shown[name][1]), costs[64]


def test_page_has_what_a_trace_adds(costs: dict[int, Costs], outside: Outside) -> None:
    """With a trace, each cost grows by that of the records that it writes."""
    traced = measured(image_of(outside, 64, trace=True))
    page = (TOP / "Documentation/reference/erika.md").read_text()
    shown = {name: int(more) for name, more in re.findall(r"(?m)^\| `(\w+)` \| \d+ \| \d+ \| (\d+) \|$", page)}
    more = {name: traced[name][2] - costs[64][name][2] for name in NAMES if name != "alarm"}
    assert shown.keys() == more.keys()
    assert all(abs(shown[name] - more[name]) <= max(6, 0.2 * shown[name]) for name in more), more
    assert max(more[name] for name in ("intdisable", "intenable", "isrentry", "isrexit")) <= 2
