# SPDX-License-Identifier: GPL-2.0-only
"""Hostile inmates, a row of rows/*.h each: what must happen happens, and nobody else notices."""

from fnmatch import fnmatchcase

import pytest

import arena
import rows
from lab.machine import Machine

MACHINES = {"xapic": {"memory": "1536M"}, "x2apic": {"memory": "1536M", "iommu": "intel"}, "intel": {"machine": "intel"}}


def vendor(where: str) -> str:
    """Of the processor in one of these machines."""
    return "intel" if where == "intel" else "amd"


# Linux's own attacks take Bochs five seconds each, where one from inside a cell takes less than one. These are always tried
# there: what VT-x does by code of its own, and one or two of each kind of what is common to both vendors. --thorough tries all.
ON_INTEL = (
    "front-read-hidden", "front-write-*", "front-hypercall-*", "front-instructions", "front-invd", "front-cr*", "front-msr-efer",
    "front-msr-microcode", "front-msr-feature-control", "front-msr-no-nx", "front-msr-trace", "front-msr-mtrr", "front-msr-tsc*", "front-apic-base", "front-icr-init",
    "front-icr-nmi", "front-msi-fixed", "front-sleep", "front-ioapic-fixed", "front-disable", "front-cell-port", "front-chipset",
)


def marks(where: str, name: str) -> list[pytest.MarkDecorator]:
    """Of an attack on one of these machines."""
    rare = where == "intel" and name.startswith("front-") and not any(fnmatchcase(name, pattern) for pattern in ON_INTEL)
    return [pytest.mark.machine(**MACHINES[where]), *([pytest.mark.thorough] if rare else [])]


def parameters() -> list:
    return [pytest.param(row, where, marks=marks(where, row.name), id=f"{row.name}-{where}")
            for where in MACHINES for row in rows.every() if row.on(vendor(where), where == "x2apic")]


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


@pytest.mark.follows
@pytest.mark.parametrize("where", [pytest.param(name, marks=pytest.mark.machine(**settings), id=name)
                                   for name, settings in MACHINES.items()])
def test_all_is_given_back(machine: Machine, where: str) -> None:
    """After all the attacks: no cell is left, QV is off, the kernel has said nothing."""
    arena.end(machine)
    assert machine.run("qvctl --json status").rc == 0
    assert '"cells": []' in machine.run("qvctl --json cell list").out
