# SPDX-License-Identifier: GPL-2.0-only
"""The lots from which `make check` takes one per commit."""

import functools
import random
from pathlib import Path

import pytest

from lab import check, commit, everything, images, sampling, times
from lab.everything import Item
from lab.errors import LabError
from lab.sampling import lots, pick, seed_of, too_long

BUDGET = 100.0


def items(count: int, longest: float = 150.0) -> list[Item]:
    rnd = random.Random(count)
    return [Item(f"item {n}", rnd.choice((1.0, 8.0, 45.0, longest)), follows=n % 7 == 6)
            for n in range(count)]


def test_same_seed_picks_same_lot() -> None:
    assert pick(items(99), BUDGET, 12345) == pick(items(99), BUDGET, 12345)
    assert pick(items(99), BUDGET, 12345) != pick(items(99), BUDGET, 12346)


@pytest.mark.parametrize("count", [1, 5, 50, 500])
def test_lots_keep_the_budget(count: int) -> None:
    assert all(sampling.weight(lot) <= BUDGET for lot in lots(items(count), BUDGET))


@pytest.mark.parametrize("count", [1, 5, 50, 500])
def test_each_item_is_in_one_lot_or_too_long(count: int) -> None:
    some = items(count)
    found = [item for lot in lots(some, BUDGET) for item in lot]
    long = too_long(some, BUDGET)
    assert sorted(map(id, found + long)) == sorted(map(id, some))
    assert all(item.seconds > BUDGET or item.follows or some[some.index(item) + 1].follows
               for item in long)


def test_item_that_follows_shares_the_lot() -> None:
    for lot in lots(items(500), BUDGET):
        assert not lot[0].follows


def test_seeds_of_a_week_cover_everything() -> None:
    """Twelve commits a day are assumed. The first digits of a hash are as good as random
    numbers."""
    some = items(200, longest=60.0)
    rnd = random.Random(1)
    seen = {item for _ in range(7 * 12)
            for item in pick(some, 10 * BUDGET, seed_of(f"{rnd.getrandbits(160):040x}")).items}
    assert seen == set(some)


def test_consecutive_seeds_run_each_lot_once() -> None:
    some = items(200)
    first = pick(some, BUDGET, 0)
    numbers = [pick(some, BUDGET, seed).number for seed in range(first.of)]
    assert numbers == list(range(1, first.of + 1))


def test_nothing_left_out_gives_an_empty_lot() -> None:
    assert not pick([], BUDGET, 1).items
    assert not pick([Item("long", 2 * BUDGET)], BUDGET, 1).items


def test_share_of_each_seed_has_tests_of_each_machine() -> None:
    """20 seeds run each test of SHARES once, and each runs 5 % of them on each machine."""
    some = [Item(f"f.py::test_conformance_suite_in_cell[{vendor}-{n}]", 3.0, machine=vendor)
            for vendor in ("amd", "intel") for n in range(40)]
    shares = [sampling.share([Item("other", 1.0), *some], seed) for seed in range(20)]
    assert all([item.machine for item in share] == ["amd"] * 2 + ["intel"] * 2 for share in shares)
    assert {item for share in shares for item in share} == set(some)


def test_seed_outside_a_repository_is_zero() -> None:
    assert seed_of("") == 0
    assert seed_of("00000010ffff") == 16


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """`make check` without its parts. Returns the list that the parts are recorded in."""
    ran: list[str] = []

    def lab_tests(also: Path, kept: Path | None) -> check.Count:
        ran.extend(also.read_text().splitlines())
        return check.Count(5, 0, {"a test": times.Time(1.0, 0.5)})
    for module, name in ((images, "kernel"), (images, "root_disk"), (check, "build_for"),
                         (check, "size"), (check, "english"), (check, "types"), (check, "vt_x")):
        monkeypatch.setattr(module, name, lambda *_: None)
    monkeypatch.setattr(check, "lab_tests", lab_tests)
    monkeypatch.setattr(check, "units", lambda seed: check.Count(7))
    monkeypatch.setattr(commit, "BUILD", tmp_path)
    monkeypatch.setattr(everything, "kept", lambda items: None)
    monkeypatch.setattr(times, "report", lambda found: [])
    monkeypatch.setattr(everything, "every", lambda: [
        Item("usual", 1.0),
        *(Item(f"rare {n}", 70.0, rare=True) for n in range(3)),
        *(Item(f"prove {n}", 100.0, rare=True, run=functools.partial(ran.append, f"prove {n}"))
          for n in range(2))])
    return ran


def test_check_runs_the_lots_of_its_seed(stubs: list[str],
                                         capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(6):
        assert commit.main(seed) == 0
        assert sorted(stubs) == [f"prove {seed % 2}", f"rare {seed % 3}"]
        stubs.clear()
    said = capsys.readouterr().out
    assert "sample of tests: lot 3 of 3, 1 items, about 70 s (SEED=5)\n  rare 2\n" in said
    builds = len(check.KERNELS)
    assert said.endswith(f"\n{builds + 4 + 5 + 7 + 1} passed, 0 failed\n")


def test_check_runs_the_share_of_its_seed(stubs: list[str],
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    some = [Item(f"f.py::test_conformance_suite_in_cell[{n}]", 3.0, rare=True) for n in range(40)]
    monkeypatch.setattr(everything, "every", lambda: [*some, Item("rare", 1.0, rare=True)])
    assert commit.main(21) == 0
    assert stubs == ["rare", some[1].name, some[21].name]


def test_check_fails_if_a_sampled_command_fails(stubs: list[str],
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise LabError("no", "nothing")
    monkeypatch.setattr(everything, "every", lambda: [Item("prove", 1.0, rare=True, run=fails)])
    assert commit.main(1) == 1


def test_check_takes_the_seed_of_the_commit(stubs: list[str],
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "git", lambda *words: "00000001" + "f" * 32)
    assert commit.main() == 0
    assert sorted(stubs) == ["prove 1", "rare 1"]
