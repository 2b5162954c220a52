# SPDX-License-Identifier: GPL-2.0-only
"""The kinds of machine on which attacks run, and which attacks of Linux always run in Bochs."""

from fnmatch import fnmatchcase

import pytest

MACHINES = {
    "xapic": {"memory": "1536M"},
    "x2apic": {"memory": "1536M", "iommu": "intel"},
    "intel": {"machine": "intel"},
}

# Linux is in xAPIC mode and the cells in x2APIC mode: kind -> the machine of MACHINES. On the other
# kinds the cells are in the mode of the machine.
MIXED: dict[str, str] = {}
KINDS = (*MACHINES, *MIXED)

# In Bochs an attack of Linux takes five seconds, and an attack of a cell less than one second.
# Therefore only some attacks of Linux always run there: all that reach code for VT-x alone, and one
# or two of each kind that reaches common code. `--thorough` runs all.
ON_INTEL = (
    "front-read-hidden", "front-write-*", "front-hypercall-numbers", "front-hypercall-pointers",
    "front-hypercall-user", "front-instructions", "front-invd", "front-cr*", "front-msr-efer",
    "front-msr-microcode", "front-msr-feature-control", "front-msr-no-nx", "front-msr-trace",
    "front-msr-mtrr", "front-msr-tsc*", "front-apic-base", "front-icr-init", "front-icr-nmi",
    "front-msi-fixed", "front-sleep", "front-ioapic-fixed", "front-disable", "front-cell-port",
    "front-chipset",
)


def vendor(where: str) -> str:
    """Returns the vendor of the processor in one of these machines."""
    return "intel" if where.startswith("intel") else "amd"


def apic(where: str) -> str:
    """Returns the value of the key `apic` of the cells of this kind."""
    return "x2apic" if where in MIXED else "machine"


def marks(where: str, name: str) -> list[pytest.MarkDecorator]:
    """Returns the marks of an attack on a machine of one of KINDS."""
    rare = (vendor(where) == "intel" and name.startswith("front-")
            and not any(fnmatchcase(name, pattern) for pattern in ON_INTEL))
    settings = MACHINES[MIXED.get(where, where)]
    return [pytest.mark.machine(**settings), *([pytest.mark.thorough] if rare else [])]


def each_machine() -> list:
    """Returns one parameter for each machine, for the tests that end the use of a machine."""
    return [pytest.param(name, marks=pytest.mark.machine(**settings), id=name)
            for name, settings in MACHINES.items()]
