# SPDX-License-Identifier: GPL-2.0-only
"""Hostile inmates, a row of rows/*.h each. Outcomes are as expected, no neighbour is affected."""

import pytest

import arena
import rows
from lab.machine import Machine
from machines import KINDS, MIXED, cell_attacks, each_machine, mode, vendor


def parameters() -> list:
    return [pytest.param(row, where, marks=marks, id=f"{row.name}-{where}")
            for where in KINDS for row, marks in cell_attacks(where)]


@pytest.fixture
def place(machine: Machine, where: str) -> arena.Arena:
    """The first test on a machine enables QV there and creates the witness."""
    return arena.arena(machine, mode(where))


@pytest.mark.parametrize("row, where", parameters())
def test_cell_attack_is_contained(place: arena.Arena, row: rows.Row, where: str,
                                  record_property) -> None:
    record_property("attack", row.name)
    record_property("open", row.open)
    if "kills" in row.flags:
        pytest.skip("open: it takes a CPU for good")
    flags = row.flags | ({"ends"} if "stopped" not in row.expected else set())
    result = place.ask("row", name=row.name, flags=sorted(flags))
    outcome = rows.outcome(result)
    record_property("outcome", outcome)
    assert not result["wrong"], result
    if not row.open:
        assert row.met(outcome, vendor(where), where in MIXED), result


@pytest.mark.follows
@pytest.mark.parametrize("where", each_machine())
def test_machine_is_restored_after_attacks(machine: Machine, where: str) -> None:
    """After all attacks no cell is left, QV is disabled and the kernel's log is clean."""
    if not arena.there(machine):
        pytest.skip("the last attack failed, so this machine is new")
    arena.end(machine)
    assert machine.run("qvctl --json status").rc == 0
    assert '"cells": []' in machine.run("qvctl --json cell list").out
