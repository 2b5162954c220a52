# SPDX-License-Identifier: GPL-2.0-only
"""The tables of attacks are complete and well-formed."""

from fnmatch import fnmatchcase

import pytest

from lab.paths import TOP

import answers
import front
import machines
import rows
import table


def test_tables_have_each_attack() -> None:
    text = table.page()
    assert all(f"| `{row.name}`" in text for row in (*rows.every(), *front.ROWS))


def test_table_has_all_families() -> None:
    assert len(rows.every()) + len(front.ROWS) >= 60
    assert {row.family for row in rows.every()} == set(table.FAMILIES)


def test_answers_name_existing_tests() -> None:
    names = [row.name for row in rows.every()] + [row.name for row in front.ROWS]
    top = TOP
    for what, named in (row for table in answers.TABLES.values() for row in table.items()):
        for answer in named:
            there = answer.startswith(answers.OPEN) or (top / answer).is_file() or \
                any(fnmatchcase(name, answer) for name in names)
            assert there, f"{what}: there is no {answer}"


@pytest.mark.parametrize("line", ['ATTACK("a", f, 0, 0, "harmless", "sometimes", "x")', 'ATTACK("a", f, 0, "harmless", "", "x")'])
def test_malformed_row_is_rejected(tmp_path, line: str) -> None:
    file = tmp_path / "some.h"
    file.write_text(line + "\n")
    with pytest.raises(ValueError):
        rows.family(file)


def test_outcome_needs_whole_address() -> None:
    row = rows.Row("x", "memory", ("failed:memory@0x40", "fault:gp"), frozenset(), "")
    assert row.met("failed:memory@0x40", "amd") and row.met("fault:gp", "intel")
    assert not row.met("failed:memory@0x400", "amd") and not row.met("failed:memory", "amd") and not row.met("harmless", "amd")


def test_intel_patterns_match_rows() -> None:
    names = [row.name for row in front.ROWS if row.on("intel")]
    lost = [pattern for pattern in machines.ON_INTEL
            if not any(fnmatchcase(name, pattern) for name in names)]
    assert not lost
    assert set(machines.EXITS_OF_INTEL) <= {row.name for row in rows.every() if row.on("intel", False)}
    assert not [row.name for row in rows.every() if row.name.startswith("front-")], "the prefix front- is for attacks of Linux"


def test_outcome_depends_on_vendor() -> None:
    row = rows.Row("x", "msr", ("amd:failed:msr@0x8b", "intel:harmless", "fault:gp"), frozenset(), "")
    assert row.met("failed:msr@0x8b", "amd") and row.met("harmless", "intel")
    assert not row.met("harmless", "amd") and not row.met("failed:msr@0x8b", "intel")
    assert row.met("fault:gp", "amd") and row.met("fault:gp", "intel") and row.on("amd", False) and row.on("intel", False)
    only = rows.Row("x", "msr", ("harmless",), frozenset({"intel"}), "")
    assert only.on("intel", False) and not only.on("amd", False) and not only.on("amd", True)
    assert all(row.there(v) for row in rows.every() for v in rows.VENDORS if row.on(v, False) or row.on(v, True))
