# SPDX-License-Identifier: GPL-2.0-only
"""Times in `make check`, and the parts of `make check-all`."""

import random
from pathlib import Path

import pytest

from lab import check, everything, record, times
from lab.errors import LabError
from lab.everything import Item
from lab.record import Result
from lab.workers import workers

GIB = 1 << 30


def test_worker_count_follows_cores_and_memory() -> None:
    assert workers(3 * GIB, cores=2, total=4 * GIB) == 2
    assert workers(3 * GIB, cores=16, total=64 * GIB) == 16
    assert workers(3 * GIB, cores=16, total=24 * GIB) == 8


def test_times_report_names_tests_that_grew(tmp_path: Path) -> None:
    now, before = tmp_path / "now.json", tmp_path / "kept/before.json"
    first = {"slow": 100.0, "quick": 1.0, "gone": 5.0}
    assert not any("grew" in line for line in times.report(first, now, before))
    lines = times.report({"slow": 149.0, "quick": 9.0}, now, before)
    assert not any("grew" in line for line in lines), "a test that grew by less was reported"
    lines = times.report({"slow": 230.0, "quick": 9.0}, now, before)
    assert lines[-1].split() == ["230.0", "s", "slow", "(149.0", "s", "before)"]
    assert times.read(now) == {"slow": 230.0, "quick": 9.0}
    assert times.read(before) == {"slow": 230.0, "quick": 9.0, "gone": 5.0}


def test_times_report_lists_slowest_tests() -> None:
    lines = times.slowest({f"test {n}": float(n) for n in range(100)})
    assert len(lines) == times.SHOWN and lines[0].split() == ["99.0", "s", "test", "99"]


def test_share_puts_each_item_in_one_part() -> None:
    rnd = random.Random(1)
    for count in (1, 7, 8, 9, 500):
        items = [Item(f"item {n}", rnd.choice((0.5, 10.0, 40.0)), follows=n % 10 == 9) for n in range(count)]
        shares = [everything.share(items, part, 8) for part in range(1, 9)]
        assert sum(shares, []) == items
        assert not any(part and part[0].follows for part in shares)
        if count == 500:
            weights = [sum(item.seconds for item in part) for part in shares]
            assert max(weights) - min(weights) <= 100


def test_left_lists_items_that_have_not_passed() -> None:
    items = [Item("a", 1), Item("b", 1), Item("c", 1, follows=True), Item("d", 1)]
    results = {name: Result(name, outcome, 1) for name, outcome in (("a", "passed"), ("b", "skipped"), ("c", "failed"))}
    # b runs again because c needs the machine as b leaves it
    assert [item.name for item in everything.left(items, results)] == ["b", "c", "d"]


def test_record_survives_a_line_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "x/results.jsonl"
    Result("a", "failed", 1).append(path)
    Result("a", "passed", 2).append(path)
    with path.open("a") as file:
        file.write('{"name": "b", "outc')
    assert record.read(path) == {"a": Result("a", "passed", 2)}


@pytest.mark.parametrize("text", ["0/8", "9/8", "8", "1/0", "x"])
def test_part_that_does_not_exist_is_rejected(text: str) -> None:
    with pytest.raises(LabError, match="is no part"):
        everything.chosen_part(text)


def test_check_all_lists_each_item_once() -> None:
    """The real items. Every test file that `make check` names is among them."""
    items = [*everything.commands(), *everything.tests()]
    names = [item.name for item in items]
    assert len(set(names)) == len(names)
    assert [item.name for part in range(1, 9) for item in everything.share(items, part, 8)] == names
    files = {name.partition("::")[0] for name in names}
    assert {"tests/attack/test_inmates.py", "tests/attack/gaps.py", "tests/lab/test_cells.py", "inmates/tests/test_alone.py"} <= files
    assert {f"check {folder}" for folder in check.UNITS if check.has_check(folder)} - set(names) == {"check tests/prove", "check tests/fuzz"}
    assert any(item.machine == "intel" for item in items) and "prove manager" in names and "fuzz exit" in names
    assert sum(item.follows for item in items) == 6
