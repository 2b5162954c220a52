# SPDX-License-Identifier: GPL-2.0-only
"""The kinds of machine on which attacks run, and which attacks of Linux always run in Bochs."""

from fnmatch import fnmatchcase

import pytest

MACHINES = {
    "xapic": {"memory": "1536M"},
    "x2apic": {"memory": "1536M", "iommu": "intel"},
    "intel": {"machine": "intel"},
}

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
    return "intel" if where == "intel" else "amd"


def marks(where: str, name: str) -> list[pytest.MarkDecorator]:
    """Returns the marks of an attack on one of these machines."""
    rare = (where == "intel" and name.startswith("front-")
            and not any(fnmatchcase(name, pattern) for pattern in ON_INTEL))
    return [pytest.mark.machine(**MACHINES[where]), *([pytest.mark.thorough] if rare else [])]


def each_machine() -> list:
    """Returns one parameter for each machine, for the tests that end the use of a machine."""
    return [pytest.param(name, marks=pytest.mark.machine(**settings), id=name)
            for name, settings in MACHINES.items()]
