# SPDX-License-Identifier: GPL-2.0-only
"""The tables themselves."""

from fnmatch import fnmatchcase

import pytest

import answers
import rows
import table
import test_front
import test_inmates


def test_the_page_is_current() -> None:
    assert table.PAGE.read_text() == table.page(), "tests/attack/table.py --write makes it anew"


def test_there_are_enough() -> None:
    assert len(rows.every()) + len(test_front.ROWS) >= 60
    assert {row.family for row in rows.every()} == set(table.FAMILIES)


def test_what_is_named_as_an_answer_is_there() -> None:
    names = [row.name for row in rows.every()] + [row.name for row in test_front.ROWS]
    top = table.PAGE.parents[2]
    for what, named in {**answers.ATTACKS, **answers.LEAKS}.items():
        for answer in named:
            there = answer.startswith(answers.OPEN) or (top / answer).is_file() or \
                any(fnmatchcase(name, answer) for name in names)
            assert there, f"{what}: there is no {answer}"


@pytest.mark.parametrize("line", ['ATTACK("a", f, 0, 0, "harmless", "sometimes", "x")', 'ATTACK("a", f, 0, "harmless", "", "x")'])
def test_a_wrong_row_is_seen(tmp_path, line: str) -> None:
    file = tmp_path / "some.h"
    file.write_text(line + "\n")
    with pytest.raises(ValueError):
        rows.family(file)


def test_an_outcome_is_more_than_its_beginning() -> None:
    row = rows.Row("x", "memory", ("failed:memory@0x40", "fault:gp"), frozenset(), "")
    assert row.met("failed:memory@0x40", "amd") and row.met("fault:gp", "intel")
    assert not row.met("failed:memory@0x400", "amd") and not row.met("failed:memory", "amd") and not row.met("harmless", "amd")


def test_what_is_always_tried_on_intel_is_there() -> None:
    names = [row.name for row in test_front.ROWS if row.on("intel")]
    lost = [pattern for pattern in test_inmates.ON_INTEL if not any(fnmatchcase(name, pattern) for name in names)]
    assert not lost
    assert not [row.name for row in rows.every() if row.name.startswith("front-")], "by that name they are told apart"


def test_vendors_are_told_apart() -> None:
    row = rows.Row("x", "msr", ("amd:failed:msr@0x8b", "intel:harmless", "fault:gp"), frozenset(), "")
    assert row.met("failed:msr@0x8b", "amd") and row.met("harmless", "intel")
    assert not row.met("harmless", "amd") and not row.met("failed:msr@0x8b", "intel")
    assert row.met("fault:gp", "amd") and row.met("fault:gp", "intel") and row.on("amd", False) and row.on("intel", False)
    only = rows.Row("x", "msr", ("harmless",), frozenset({"intel"}), "")
    assert only.on("intel", False) and not only.on("amd", False) and not only.on("amd", True)
    assert all(row.there(v) for row in rows.every() for v in rows.VENDORS if row.on(v, False) or row.on(v, True))
