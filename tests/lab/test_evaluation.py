# SPDX-License-Identifier: GPL-2.0-only
"""The page of `make evaluation`, and, as slow tests, a few observations of its experiments."""

import subprocess
from pathlib import Path
from typing import Any

import isolation
import migration
import moving
import one_way
import preemption
import pytest
import recovery
import round_trips
import service
import sharing
from cells import CLOCK_HZ, Bench
from messages import SHIFT, kept, measure, tightness
from page import page
from product import Product

EVALUATE = Path(page.__code__.co_filename).with_name("evaluate")
BOUND = {"qv": 255_000_000, "any": 480_000_000, "paper": 240_000_000, "said": 256_000_000}
SVG = '<?xml version="1.0"?>\n<svg><g id="axes_1"><use href="#axes_1"/></g></svg>\n'


def results(longest: int) -> dict[str, Any]:
    """Returns the results of a case with three round trips."""
    return {"cases": [{"case": [20, 100, 20, 100], "number": 3, "median_ns": 180_010_915, "longest_ns": [longest, 180_010_915, 10_000],
                       "bound_ns": BOUND, "cost_ns": 4.5,
                       "overrun_us": [3, 5]}]}


def written(folder: Path, longest: int) -> str:
    (folder / "round_trips.svg").write_text(SVG)
    return page(folder, [(round_trips.TITLE, "make evaluation ONLY=round_trips", round_trips.shown(results(longest)))], "About <it>.")


def test_page_has_sentence_table_and_picture(tmp_path: Path) -> None:
    text = written(tmp_path, 200_000_000)
    assert "Of 3 round trips, none took longer than the bound" in text
    assert "1 of 1 cases reach the goal of 60%" in text
    assert "<td>20/100</td><td>20/100</td><td>3</td><td>180.011</td><td>200.000</td><td>255.000</td><td>240.000</td><td>78.4%</td>" in text
    assert '<g id="round_trips-axes_1"><use href="#round_trips-axes_1"/></g>' in text
    assert "About &lt;it&gt;." in text
    assert "3 observations; again by <code>make evaluation ONLY=round_trips</code>" in text
    assert "broken" not in text.partition("</style>")[2]


def test_page_shows_a_broken_bound(tmp_path: Path) -> None:
    text = written(tmp_path, BOUND["qv"] + 1)
    assert "1 took longer than the bound" in text
    assert "A promise is broken here." in text


@pytest.mark.parametrize("words", ["--share 2", "--share 0", "--share=-1", "--share nan",
                                   "--share half", "--machines 0", "--machines=-1"])
def test_numbers_without_meaning_are_refused(words: str) -> None:
    """A sentence says what would be right, and nothing is measured."""
    done = subprocess.run([EVALUATE, *words.split(), "--page"], capture_output=True, text=True)
    right = ": 1 or more" if "machines" in words else ": more than 0 and at most 1, such as 0.1"
    assert done.returncode == 2 and right in done.stderr


def moved(name: str, moves: int, unpack_us: int = 1000, least_us: int = 20_000) -> dict[str, Any]:
    """Returns results of a set-up in which a program wishes to move after five seconds."""
    vcpus = [
        {"name": name, "io": False, "c": float(c), "t": float(t)}
        for name, (c, t) in (moving.VCPUS | {"migration": (10, 50)}).items()
    ]
    used: dict[str, dict[str, Any]] = {
        name: {"begin": 0, "us": [c * 1000] * 120}
        for name, (c, _) in moving.VCPUS.items()
        if name in moving.BUSY
    }
    used["logger"]["us"][60] = least_us
    used["migration"] = {"begin": 0, "ms": 100, "us": [0] * 50 + [unpack_us] + [0] * 69}
    program = {
        "program": "edges", "cell": "two" if moves else "one", "moves": moves, "error": 0, "kib": 2400,
        "wish_ns": 5_000_000_000, "gap_ns": 80_500_000, "gap_at_ns": 0, "begin": 1_000_000,
        "moved_ns": 80_500_000, "moved_at_ns": 5_010_000_000, "counts": [20] * 10,
    }
    cells = ("one", "two")
    return {
        "name": name, "programs": [program], "rate": {"begin": 0, "counts": [1000] * 10},
        "used": {cell: used for cell in cells}, "vcpus": {cell: vcpus for cell in cells},
        "costs_us": [1000, unpack_us],
    }


def test_page_shows_a_move_and_its_budgets(tmp_path: Path) -> None:
    [figure] = migration.shown({"setups": [moved("copy", 1)]})
    assert "Of 474 budgets of the 6 other VCPUs, whose programs use all they get, none was lost" in figure.says
    assert "no result for 80.5 ms from 5.010 s on, within the bound" in figure.says
    assert ["logger in one: least of 79 budgets; lost", "20.00 of 20; 0", "not affected"] in figure.rows
    assert figure.holds and "This agrees" in figure.agrees


def test_page_shows_a_lost_budget(tmp_path: Path) -> None:
    [figure] = migration.shown({"setups": [moved("copy", 1, least_us=17_999)]})
    assert "2 was lost" in figure.says and not figure.holds


def test_page_shows_the_boundary(tmp_path: Path) -> None:
    """MIG_STRICT accepts a move for which D_mig is at most E_m, and refuses another."""
    accepts = [moved("boundary-4", 1, 9_900), moved("boundary-5", 0, 10_300)]
    [figure] = migration.shown({"setups": accepts})
    assert figure.holds and "the program stays" in figure.says, figure.rows
    [figure] = migration.shown({"setups": [*accepts, moved("boundary-21", 1, 26_000)]})
    assert not figure.holds


def test_page_shows_a_late_thread() -> None:
    """During moves a thread may be 20 us later than one in a cell that takes no part in them."""
    def found(us: int) -> dict[str, Any]:
        limits = {"one": us, "two": 40, "three": 40}
        cells = {cell: {"count": 1000, "mean_ns": 5000, "most_ns": 90_000, "limit_us": limit} for cell, limit in limits.items()}
        return {"cases": [{"method": "messages", "moves": moves, "cells": cells} for moves in (False, True)]}
    [figure] = preemption.shown(found(60))
    assert "999 are at most 60 us late, and 40 us in a third cell" in figure.says and figure.holds
    assert not preemption.shown(found(61))[0].holds


def sent(late: int = 0, lost: int = 10, slow: int = 0) -> dict[str, Any]:
    """Returns results of two cells, of which the sharer gets `slow` datagrams less."""
    def one(number: int) -> dict[str, int]:
        return {"us": 1_000_000, "sent": number, "bytes": (number - lost) * 1472, "lost": lost, "late": late,
                "known": number + 1}
    cases = [{"shared": False, "senders": ["one"], "rounds": [{"one": one(2000)}]}]
    for senders in sharing.SENDERS:
        found = {name: one(1000 - slow * (name == "two")) for name in senders}
        cases.append({"shared": True, "senders": list(senders), "rounds": [found]})
    guests = [{"kvm": True, "senders": ["one"], "rounds": [{"one": one(500)}]}]
    return {"cases": cases, "guests": guests, "seconds": 1, "net": {}}


def test_page_shows_sharers() -> None:
    """No datagram may come twice or late, and each cell must get its part."""
    [figure] = sharing.shown(sent())
    assert figure.holds and "Of 13000 datagrams 120 were lost" in figure.says, figure.says
    assert "One sends 0.25 of what the cell sends" in figure.says, figure.says
    assert ["1 guest", "5.8", "0.25", "5.8", "500", "10"] in figure.rows, figure.rows
    assert ["2 cells", "23.3", "0.99", "11.7, 11.7", "2000", "20"] in figure.rows, figure.rows
    old = {key: found for key, found in sent().items() if key != "guests"}
    assert "guest" not in sharing.shown(old)[0].says
    assert not sharing.shown(sent(late=1))[0].holds and not sharing.shown(sent(slow=800))[0].holds


def recovered(back_ns: int) -> dict[str, Any]:
    outage = {"detected_ns": 10_004_705, "stopped_ns": 10_004_705, "started_ns": 10_142_816, "back_ns": back_ns, "strategy": "takeover"}
    return {"ways": [{"name": "cell failed: take-over", "outages": [outage, outage]}]}


def test_page_shows_phases_of_a_recovery() -> None:
    [figure, papers] = recovery.shown(recovered(10_162_462))
    assert figure.holds and "was back 10.162 ms after its fault at most, in 2 outages" in figure.says
    assert figure.rows == [["cell failed: take-over", "2", "10.005; 10.005", "10.005; 10.005", "10.143; 10.143", "10.162; 10.162"]]
    assert ("Driver Replacement", "10503", "N/A") in papers.rows
    assert not recovery.shown(recovered(50_000_001))[0].holds


def heard(*numbers: int, late_ms: int = 0) -> dict[str, Any]:
    """Returns results in which the cell that fails takes the messages `numbers`, with a failure after
    the second, and another cell looks `late_ms` late."""
    ms = CLOCK_HZ // 1000
    own = [[at * 100 * ms, 1, number, number] for at, number in enumerate(numbers, 1)]
    looks = {"zero": own}
    for name in ("two", "three"):
        next_ms = isolation.CELLS[name][1] + late_ms
        looks[name] = [[0, 2, 1, 2], [next_ms * ms, 2, 3, 4]]
    pings = [[n, n * 100 * ms, n * 100 * ms + 50_000] for n in (1, 2, 4)]
    failures = [{"tsc": 250 * ms, "ns": 210 * ms, "reason": "memory", "restart_ns": 5_930_000}]
    return {"looks": looks, "others": {"one": 0}, "failures": failures, "pings": pings}


def test_page_shows_that_only_the_faulty_cell_is_interrupted() -> None:
    """Its new life may take a message again. No other cell may miss one, look late, or fail."""
    [figure] = isolation.shown(heard(1, 2, 2, 3))
    assert figure.holds and "5.930 ms until its image began again, 50.000 ms until it took messages again, " in figure.says
    assert "190.050 ms until it had answered the next ping). Of the pings, 1 had no answer" in figure.says
    assert figure.rows[:2] == [["zero", "100", "4", "3", "0", "100.000"], ["two", "800", "2", "4", "0", "800.000"]]
    assert isolation.shown(heard(1, 2, 5))[0].rows[0][4] == "2", "it missed two"
    assert not isolation.shown(heard(1, 2, 3, late_ms=21))[0].holds
    for change in ({"others": {"one": 1}}, {"looks": heard(1, 2, 3)["looks"] | {"two": [[0, 2, 1, 2], [1, 1, 4, 4]]}}):
        assert not isolation.shown(heard(1, 2, 3) | change)[0].holds


def served(*outages: int) -> dict[str, Any]:
    """Returns results with a request each 10 ms, answered after 2 ms. Those that come in an outage of
    so many ms are answered 1001 ms later."""
    ms, ways = 1_000_000, []
    for outage in outages:
        each = [[due * ms, (due + (1001 if 500 <= due < 500 + outage else 2)) * ms]
                for due in range(0, 2000, 10)]
        asked = {"asked": 200, "answered": 199, "median_ms": 2.0, "longest_ms": 1001.0}
        ways.append({"name": f"{outage} ms", "each": each, "asked": asked, "log": []})
    return {"ways": ways}


def test_page_shows_when_a_server_is_back() -> None:
    """Requests that wait for TCP are answered late, but do not make the outage longer."""
    results = served(10, 30)
    results["ways"][1]["log"] = [{"time_s": 0.5, "text": "cpu 0: cell first stopped"},
                                 {"time_s": 0.501, "text": "cpu 0: PCI function 0xa0 moved to cell instance 2"}]
    [figure] = service.shown(results)
    assert figure.holds and [row[5] for row in figure.rows] == ["20.000", "40.000"], figure.rows
    assert "2 requests were lost; 4 waited" in figure.says, figure.says
    assert "8.000 ms passed until Linux had found that" in figure.says and "31.000 ms until the heir's driver" in figure.says
    assert not service.shown(served(10, 50))[0].holds


@pytest.mark.slow
@pytest.mark.machine(icount=True, shift=SHIFT)
def test_round_trips_keep_their_bound(qv: Product) -> None:
    found = measure(Bench(qv.machine), round_trips.TABLE_4_1[1], 100, 1)
    assert round_trips.TIGHT <= tightness(found) <= 1 and kept([found]), found


@pytest.mark.slow
@pytest.mark.machine(icount=True, shift=SHIFT)
def test_streams_keep_their_bound(qv: Product) -> None:
    found = measure(Bench(qv.machine), one_way.TABLE_4_2[0], 1, 1, one_way.BYTES)
    assert kept([found]) and found["longest_ns"][0] > 100_000_000, found


@pytest.mark.slow
@pytest.mark.machine(icount=True, shift=moving.SHIFT)
@pytest.mark.parametrize("name", [s.name for s in migration.SETUPS])
def test_move_takes_no_budget(qv: Product, name: str) -> None:
    """Each experiment of migration.py: the program moves within its bound, or stays, and no other
    VCPU loses a budget. Requests to one cell are served one after the other."""
    [setup] = [s for s in migration.SETUPS if s.name == name]
    found = {"setups": [moving.measure(Bench(qv.machine), setup)]}
    [figure] = migration.shown(found)
    moves = [program["moves"] for program in found["setups"][0]["programs"]]
    assert moves == [setup.moves] * (1 + setup.third)
    assert figure.holds, (figure.says, figure.rows)
