# SPDX-License-Identifier: GPL-2.0-only
"""Hostile inmates, a row of rows/*.h each: what must happen happens, and nobody else notices."""

import pytest

import arena
import rows
from lab.machine import Machine

MACHINES = {"xapic": {"memory": "1536M"}, "x2apic": {"memory": "1536M", "iommu": "intel"}}


def vendor(where: str) -> str:
    """Of the processor in one of these machines."""
    return "intel" if where == "intel" else "amd"


def parameters() -> list:
    return [pytest.param(row, where, marks=pytest.mark.machine(**settings), id=f"{row.name}-{where}")
            for where, settings in MACHINES.items() for row in rows.every() if row.on(vendor(where), where == "x2apic")]


@pytest.mark.parametrize("row, where", parameters())
def test_attack(machine: Machine, row: rows.Row, where: str, record_property) -> None:
    record_property("attack", row.name)
    record_property("open", row.open)
    if "kills" in row.flags:
        pytest.skip("open: it takes a CPU for good")
    flags = row.flags | ({"ends"} if "stopped" not in row.expected else set())
    result = arena.arena(machine).ask("row", name=row.name, flags=sorted(flags))
    outcome = rows.outcome(result)
    record_property("outcome", outcome)
    assert not result["wrong"], result
    if not row.open:
        assert row.met(outcome, vendor(where)), result


@pytest.mark.parametrize("where", [pytest.param(name, marks=pytest.mark.machine(**settings), id=name)
                                   for name, settings in MACHINES.items()])
def test_all_is_given_back(machine: Machine, where: str) -> None:
    """After all the attacks: no cell is left, QV is off, the kernel has said nothing."""
    arena.end(machine)
    assert machine.run("qvctl --json status").rc == 0
    assert '"cells": []' in machine.run("qvctl --json cell list").out
