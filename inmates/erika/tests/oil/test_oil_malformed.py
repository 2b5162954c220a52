# SPDX-License-Identifier: GPL-2.0-only
"""Malformed files: each has its message, with the place of the mistake."""

import re

import pytest
from oilcases import Case, cases

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_message(case: Case) -> None:
    assert case.said() == case.expected


def test_table_is_large_and_without_twins() -> None:
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len({case.oil() for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_case_has_an_error_in_its_file(case: Case) -> None:
    """An error names the user's file and an existing line, and never a file of the compiler."""
    places = [
        re.match(r"case\.oil:(\d+):(\d+): (?!warning|note)", line)
        for line in case.said().splitlines()
    ]
    lines = case.oil().split("\n")
    assert any(places)
    for place in filter(None, places):
        assert int(place[2]) <= len(lines[int(place[1]) - 1]) + 1
