# SPDX-License-Identifier: GPL-2.0-only
"""The cost of the services of the OSEK kernel, alone on a machine whose clock counts instructions. It
does not grow with the number of tasks."""

import re

import pytest

from lab.erikabench import NAMES, SAME, TASKS, Costs, image_of, measured
from lab.outside import Outside
from lab.paths import TOP

# one worker for all, since they share the measurement
pytestmark = pytest.mark.xdist_group("erika-cost")

@pytest.fixture(scope="module")
def outside(built: None, tmp_path_factory: pytest.TempPathFactory) -> Outside:
    return Outside(tmp_path_factory.mktemp("erika-cost"))


@pytest.fixture(scope="module")
def costs(outside: Outside) -> dict[int, Costs]:
    """Returns the costs by the number of tasks."""
    return {tasks: measured(image_of(outside, tasks) / "cost32.elf") for tasks in TASKS}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_cost_does_not_grow_with_the_number_of_tasks(costs: dict[int, Costs], name: str) -> None:
    """A decision may need another instruction or two, since a queue may be empty or not."""
    few = costs[TASKS[0]][name]
    for tasks in TASKS[1:]:
        samples, *many = costs[tasks][name]
        assert samples >= few[0] and all(abs(a - b) <= SAME for a, b in zip(few[1:], many)), costs


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
    traced = measured(image_of(outside, 64, trace=True) / "cost32.elf")
    page = (TOP / "Documentation/reference/erika.md").read_text()
    shown = {name: int(more) for name, more in re.findall(r"(?m)^\| `(\w+)` \| \d+ \| \d+ \| (\d+) \|$", page)}
    more = {name: traced[name][2] - costs[64][name][2] for name in NAMES if name != "alarm"}
    assert shown.keys() == more.keys()
    assert all(abs(shown[name] - more[name]) <= max(6, 0.2 * shown[name]) for name in more), more
    assert max(more[name] for name in ("intdisable", "intenable", "isrentry", "isrexit")) <= 2
