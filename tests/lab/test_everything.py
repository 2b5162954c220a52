# SPDX-License-Identifier: GPL-2.0-only
"""Times in `make check`, and the parts of `make check-all`."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from lab import budget, check, cost, everything, fixtures, record, sampling, times
from lab.errors import LabError
from lab.everything import Item
from lab.record import Result
from lab.times import Time
from lab.weights import BOOT
from lab.workers import workers

GIB = 1 << 30


def test_worker_count_follows_cores_and_memory() -> None:
    assert workers(3 * GIB, cores=2, total=4 * GIB) == 2
    assert workers(3 * GIB, cores=16, total=64 * GIB) == 16
    assert workers(3 * GIB, cores=16, total=24 * GIB) == 8


class Node:
    """A test as pytest collects it, in a machine."""

    fixturenames = ("machine",)

    def __init__(self, path: str, **machine: object) -> None:
        self.path, self.nodeid = Path(path), path
        self._marks = [pytest.mark.machine(**machine).mark]

    def iter_markers(self, _name: str) -> list[pytest.Mark]:
        return self._marks


def group(node: Node, many: bool) -> str:
    return fixtures.group(cast(pytest.Item, node), many)


def test_groups_are_machines_or_with_many_workers_files() -> None:
    nodes = [Node("lab/test_a.py"), Node("lab/test_b.py"), Node("lab/test_b.py", cpus=8),
             Node("lab/test_a.py", machine="intel"), Node("lab/test_b.py", machine="intel"),
             Node("attack/test_c.py", machine="intel")]

    def groups(many: bool) -> list[int]:
        names = [group(node, many) for node in nodes]
        return [names.index(name) for name in names]
    assert groups(many=False) == [0, 0, 2, 3, 3, 5]
    assert groups(many=True) == [0, 1, 2, 3, 4, 5]
    assert all(group(node, many).startswith(fixtures.SLOW)
               for node in nodes[3:] for many in (False, True))


def cpu(**seconds: float) -> dict[str, Time]:
    """Tests that waited as long as they used a processor."""
    return {name: Time(2 * value, value) for name, value in seconds.items()}


def test_times_report_names_tests_that_grew(tmp_path: Path) -> None:
    now, before = tmp_path / "now.json", tmp_path / "kept/before.json"
    first = times.report(cpu(slow=100.0, quick=1.0, gone=5.0), now, before)
    assert not any("grew" in line for line in first)
    lines = times.report(cpu(slow=149.0, quick=9.0), now, before)
    assert not any("grew" in line for line in lines), "a test that grew by less was reported"
    lines = times.report(cpu(slow=230.0, quick=9.0), now, before)
    assert lines[-1].split() == ["230.0", "s", "slow", "(112.2", "s", "expected)"]
    assert json.loads(now.read_text()) == {"slow": [460.0, 230.0], "quick": [18.0, 9.0]}
    assert times.read(before)["gone"] == 5.0


def test_times_report_ignores_tests_without_cpu_time(tmp_path: Path) -> None:
    now, before = tmp_path / "now.json", tmp_path / "before.json"
    times.report({"boot": Time(100.0)}, now, before)
    assert times.read(before) == {} and "boot" in now.read_text()


def test_times_ignore_a_slower_host() -> None:
    before = {f"test {n}": 20.0 for n in range(9)}
    slower = {name: 60.0 for name in before}
    assert times.host_factor(slower, before) == 3.0
    assert not times.grown(slower, before)
    assert times.merged(slower, before) == before
    assert len(times.grown({**slower, "test 3": 200.0}, before)) == 1


def test_times_notice_slow_growth() -> None:
    before, seconds = {f"test {n}": 100.0 for n in range(9)}, 100.0
    for _ in range(20):
        seconds *= 1.2
        found = times.grown({**before, "test 3": seconds}, before)
        if found:
            break
        before = times.merged({**before, "test 3": seconds}, before)
    assert "test 3" in found[0]


def test_times_report_lists_slowest_tests() -> None:
    lines = times.slowest({f"test {n}": Time(500.0, float(n)) for n in range(100)})
    assert len(lines) == times.SHOWN
    assert lines[0].split() == ["99.0", "s", "500.0", "s", "test", "99"]


def test_cpu_time_of_a_tree_includes_all_descendants() -> None:
    found = {1: (0, 100.0), 10: (1, 2.0), 11: (10, 3.0), 12: (11, 4.0), 20: (1, 50.0)}
    assert cost.of_tree(found, 10) == 9.0
    assert cost.of_tree(found, 99) == 0.0


def test_cpu_time_of_running_and_ended_children_counts() -> None:
    before, thread = cost.so_far(), cost.of_thread()
    busy = [sys.executable, "-c", "import os, time\nwhile time.process_time() < 0.3: pass\nprint('done', flush=True)\ninput()"]
    with subprocess.Popen(busy, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin and child.stdout and child.stdout.readline() == b"done\n"
        assert cost.so_far() - before >= 0.25, "the child runs"
        child.stdin.write(b"\n")
        child.stdin.close()
        child.returncode = cost.wait(child.pid)
    assert cost.so_far() - before >= 0.25, "the child has ended"
    assert cost.of_thread() - thread >= 0.25 and child.returncode == 0


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


def shares(items: list[Item]) -> list[list[Item]]:
    return [everything.share(items, part, everything.PARTS) for part in range(1, everything.PARTS + 1)]


def test_check_all_lists_each_item_once() -> None:
    """The real items. Every test file that `make check` names is among them."""
    items = everything.every()
    names = [item.name for item in items]
    assert len(set(names)) == len(names)
    assert [item.name for share in shares(items) for item in share] == names
    files = {name.partition("::")[0] for name in names}
    assert {"tests/attack/test_inmates.py", "tests/attack/gaps.py", "tests/lab/test_cells.py", "inmates/tests/test_alone.py"} <= files
    assert {f"check {folder}" for folder in check.UNITS if check.has_check(folder)} - set(names) == {"check tests/prove", "check tests/fuzz"}
    assert any(item.machine == "intel" for item in items) and "prove manager" in names and "fuzz exit" in names
    assert sum(item.follows for item in items) == 6
    check_sample(items)
    check_budgets(items)


def check_budgets(items: list[Item]) -> None:
    """By the weights, `make check` and each part of `make check-all` keep their budgets."""
    assert not budget.over(items), budget.over(items)
    parts = [sum(item.seconds for item in share) for share in shares(items)]
    assert max(parts) <= budget.PART, parts


def test_plan_over_the_budget_names_the_most_expensive() -> None:
    left = budget.CHECK - check.FUZZ_SECONDS - sampling.TESTS - sampling.COMMANDS - BOOT
    fits = [Item("a", left - 9.0, boot="amd"), Item("b", 9.0, boot="amd"), Item("c", 99.0, boot="x", rare=True),
            Item("fuzz d", 130.0, rare=True)]
    assert budget.planned(fits) == budget.CHECK and not budget.over(fits)
    said = budget.over([*fits, Item("new", 6.0)])
    assert "make check needs 57.1 minutes of CPU time, and its budget is 57" in said
    assert said.endswith(f"a ({left - 9:.0f} s), b (9 s), new (6 s)")


def test_file_that_outgrows_its_weight_is_named() -> None:
    """The host is half as fast as that of the weights."""
    items = [Item(f"f{n}::test_{m}", 10.0, machine="amd") for n in range(9) for m in range(4)]
    took = {item.name: Time(99.0, 20.0) for item in items}
    assert not budget.outgrown(items, took)
    took["f3::test_1"] = Time(99.0, 120.0)
    [line] = budget.outgrown(items, took)
    assert line.split()[:4] == ["180.0", "s", "f3", "amd"]
    took["f3::test_1"] = Time(99.0)
    assert not budget.outgrown(items, took), "a test without measured CPU time counted"



def check_sample(items: list[Item]) -> None:
    """Everything that `make check` leaves out is in a lot, or is too long for one, which is known."""
    rare = [item for item in items if item.rare]
    assert not [item.name for item in items if item.name.startswith("fuzz ") and not item.rare]
    shared = [item for item in rare if sampling.parts_of(item)]
    tests = [item for item in rare if not item.run and item not in shared]
    commands = [item for item in rare if item.run]
    long = [*sampling.too_long(tests, sampling.TESTS),
            *sampling.too_long(commands, sampling.COMMANDS)]
    names = {item.name.partition("::")[0] for item in long}
    assert names == {"prove manager", "prove front", "prove request", "torture channels", "tests/attack/gaps.py",
                     "tests/attack/test_races.py", "tests/lab/test_soak.py", *everything.APART}
    assert not any(everything.trees(lot) for lot in sampling.lots(tests, sampling.TESTS)), "make check makes no such tree"
    lots = [sampling.lots(tests, sampling.TESTS), sampling.lots(commands, sampling.COMMANDS)]
    print([len(some) for some in lots])
    assert all(len(some) <= 45 for some in lots), "a week of commits covers everything"
    assert sum(len(lot) for some in lots for lot in some) + len(long) + len(shared) == len(rare)


def test_overview_has_a_line_per_commit(tmp_path: Path) -> None:
    items = [Item(f"item {n}", 1.0) for n in range(2 * everything.PARTS)]
    done = {0: "passed", 1: "skipped", 2: "failed", 4: "passed"}
    for commit, outcomes in (("aaa", {}), ("bbb", done)):
        everything.keep_parts(items, tmp_path / f"{commit}.json")
        for number, outcome in outcomes.items():
            Result(f"item {number}", outcome, 1.0).append(tmp_path / f"{commit}.jsonl")
    os.utime(tmp_path / "aaa.json", (1, 1))
    lines = everything.overview(tmp_path)
    assert lines[2] == "| bbb | passed | 1 failed, 1 of 2 run | 1 of 2 run |" + " not run |" * (everything.PARTS - 3)
    assert lines[3] == "| aaa |" + " not run |" * everything.PARTS


def test_commands_of_a_tree_with_changes_are_not_kept(tmp_path: Path) -> None:
    def fails() -> None:
        raise LabError("no", "nothing")
    items = [Item("check a", 1.0, run=lambda: None), Item("check b", 1.0, run=fails)]
    done = everything.carry_out_commands(items, None)
    assert (done.passed, done.failed, list(done.times)) == (1, 1, ["check a"])
    everything.carry_out_commands(items, tmp_path / "kept.jsonl")
    assert [r.outcome for r in record.read(tmp_path / "kept.jsonl").values()] == ["passed", "failed"]
