# SPDX-License-Identifier: GPL-2.0-only
"""A hostile Linux: its kernel (by test modules) and its programs against the monitor and the cells.

Each attack is a row of the package `front`. No attack may be fatal for Linux. Each attack is
counted and logged. The witness cell continues to send heartbeats."""

import pytest

from front import ROWS, Front, Linux
from lab.machine import Machine
from machines import DIRECT, IOMMU, KINDS, MIXED, each_machine, front_marks, mode


def parameters() -> list:
    return [pytest.param(row, where, marks=front_marks(where, row.name), id=f"{row.name}-{where}")
            for where in (*KINDS, *IOMMU) for row in ROWS
            if (row.on_mixed() if where in MIXED else
                row.on_direct() if where in DIRECT else row.on(where))]


@pytest.fixture
def linux(machine: Machine, where: str) -> Linux:
    """The first test on a machine builds the modules, and creates the witness."""
    return Linux(machine, mode(where))


@pytest.mark.parametrize("row, where", parameters())
def test_linux_attack_is_contained(linux: Linux, row: Front, record_property) -> None:
    record_property("attack", row.name)
    record_property("open", bool(row.open))
    if row.kills:
        pytest.skip(f"open: {row.open}")
    linux.arena.rest()
    outcome = "as expected"
    try:
        row.run(linux)
    except AssertionError as error:
        outcome = (str(error).splitlines() or ["not as expected"])[0][:200]
        if not row.open:
            raise
    finally:
        record_property("outcome", outcome)
    linux.arena.ask("neighbours")


@pytest.mark.follows
@pytest.mark.parametrize("where", each_machine())
def test_attack_modules_unload(machine: Machine, where: str) -> None:
    if machine.run("test -d /sys/module/qvfront").rc:
        pytest.skip("the last attack failed, so this machine is new")
    done = machine.run("rmmod qvfront qvtouch; test ! -d /sys/module/qvfront")
    assert done.rc == 0, done.out
