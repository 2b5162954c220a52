# SPDX-License-Identifier: GPL-2.0-only
"""The kinds of machine on which attacks run, and which attacks are slow on each kind.

Each attack of a cell runs in `make check` on one kind at least, xapic if it can, and so does each
attack of Linux except for COSTLY and some on the IOMMU. On the other kinds, an attack that shows
the same as another one there is slow: `make check-all` runs it."""

from fnmatch import fnmatchcase

import pytest

import devices
import product
import rows

# The same machines as those of tests/lab (product.py), so that they share a boot
MACHINES = {name: product.MACHINES[name] for name in ("xapic", "x2apic", "intel")}

# Linux is in xAPIC mode and the cells in x2APIC mode: kind -> the machine of MACHINES. On the other
# kinds the cells are in the mode of the machine.
MIXED = {"mixed": "xapic", "intel-mixed": "intel"}
# Linux and the attacker's cell have direct IPIs, the witness has not
DIRECT = {"direct": "xapic"}
KINDS = (*MACHINES, *MIXED, *DIRECT)
# The monitor owns the IOMMU, and Linux has the device edu. For attacks of Linux by these alone. The
# machine of other tests of the IOMMU, so that they share a boot
IOMMU = {"iommu": {"iommu": "intel", "boot_args": ("iommu=pt",),
                   "qemu_args": devices.BEHIND_IOMMU}}

# In Bochs an attack costs seconds. These run there in `make check`: attacks of Linux that reach
# code for VT-x alone, and one of each kind of exit.
ON_INTEL = (
    "front-write-hidden", "front-hypercall-numbers", "front-instructions", "front-cr4-vmxe",
    "front-msr-microcode", "front-msr-feature-control", "front-icr-init", "front-cell-port", "front-disable",
)
# The same for attacks of cells. Besides these, all attacks run that only Intel's processors have.
EXITS_OF_INTEL = (
    "mem-read-past-end", "mem-cr3-foreign", "channel-bell-foreign", "msr-efer-svme", "msr-apic-base-move",
    "msr-icr-in-xapic", "ins-call-0", "ins-vmmcall", "ins-invd", "ins-wbinvd", "ins-xsetbv-0", "ins-cr0-cd",
    "ins-cr4-reserved", "ins-dr7", "ins-triple-fault", "ins-db-storm", "ins-ac-storm", "ins-cpuid-sweep",
    "ins-hlt-off", "ins-nmi-blocked", "ins-task-switch", "ins-pae-memory", "icr-fixed-linux", "xapic-byte",
    "xapic-string", "lvt-timer-nmi", "port-reset-keyboard", "port-pci-data", "smp-start", "smp-16-triple",
)


def vendor(where: str) -> str:
    """Returns the vendor of the processor in one of these machines."""
    return "intel" if where.startswith("intel") else "amd"


def mode(where: str) -> str:
    """Returns the mode of an arena of this kind."""
    return "x2apic" if where in MIXED else where if where in (*DIRECT, *IOMMU) else "machine"


# The attacks of Linux whose outcome may depend on the APIC mode of Linux
ON_X2APIC = ("front-icr-*", "front-xapic-in-x2", "front-apic-base", "front-msi-*", "front-ioapic-*")


def _marks(where: str, slow: bool) -> list[pytest.MarkDecorator]:
    settings = {**MACHINES, **IOMMU}[{**MIXED, **DIRECT}.get(where, where)]
    return [pytest.mark.machine(**settings), *([pytest.mark.slow] if slow else [])]


# Of the attacks on the IOMMU, these write each of its tables and registers once
OF_IOMMU = ("front-irte-fixed", "front-irte-beyond", "front-iommu-store-hidden", "front-iommu-tail",
            "front-iommu-pointers", "front-iommu-off")
# Attacks with cells of their own, which cost half a minute; each shows the same as another one
COSTLY = ("front-channel-read-only", "front-channel-return", "front-channel-claim", "front-channel-race")


FRONT = {"x2apic": ON_X2APIC, "intel": ON_INTEL, "iommu": OF_IOMMU, "mixed": (), "intel-mixed": ()}


def front_marks(where: str, name: str) -> list[pytest.MarkDecorator]:
    """Returns the marks of an attack of Linux on a machine of one of KINDS or IOMMU."""
    usual = any(fnmatchcase(name, pattern) for pattern in FRONT.get(where, ("*",)))
    return _marks(where, name in COSTLY or not usual)


def cell_attacks(where: str) -> list[tuple[rows.Row, list[pytest.MarkDecorator]]]:
    """Returns the attacks of cells on a machine of one of KINDS, each with its marks.

    Two attacks with the same function of the inmate and the same expected outcomes differ only in
    their numbers: of a port, of an MSR, of an interrupt. tests/unit compares the decisions for all
    numbers with lists and models. So on other kinds than xapic only the first of them is not slow.
    Attacks on memory are not slow there: one may depend on the one before. Of the kind direct only
    those with the flag direct are not slow."""
    seen: set[tuple[str, ...]] = set()
    found = []
    for row in rows.every():
        if row.on(vendor(where), where == "x2apic", where in MIXED, where in DIRECT):
            expected = row.there(vendor(where), where in MIXED)
            kind = (row.function, *(each.partition("@")[0] for each in expected))
            if where == "intel":
                slow = row.name not in EXITS_OF_INTEL and ("intel" not in row.flags or kind in seen)
            elif where in DIRECT:
                slow = "direct" not in row.flags
            else:
                slow = where == "intel-mixed" or where != "xapic" and kind in seen and row.family != "memory"
            found.append((row, _marks(where, slow)))
            seen.add(kind)
    return found


def each_machine() -> list:
    """Returns one parameter for each machine, for the tests that end the use of a machine."""
    return [pytest.param(name, marks=pytest.mark.machine(**settings), id=name)
            for name, settings in MACHINES.items()]
