# SPDX-License-Identifier: GPL-2.0-only
"""The page of `make evaluation`, and, as slow tests, a few observations of its experiments."""

from pathlib import Path
from typing import Any

import migration
import one_way
import pytest
import round_trips
from cells import Bench
from messages import SHIFT, kept, measure, tightness
from page import page
from product import Product

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
@pytest.mark.machine(icount=True)
def test_strict_move_takes_no_budget(qv: Product) -> None:
    [setup] = [s for s in migration.SETUPS if s.name == "copy"]
    found = migration.measure(Bench(qv.machine), setup)
    assert [program["moves"] for program in found["programs"]] == [1]
    assert all(not budget["lost"] for budget in found["budgets"].values()), found["budgets"]
