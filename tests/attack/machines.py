# SPDX-License-Identifier: GPL-2.0-only
"""The kinds of machine on which attacks run, and which attacks always run on each kind.

On xapic, every attack always runs. On the other kinds, some attacks show the same as another attack
there. These run in the sample of `make check`, and with --thorough."""

from fnmatch import fnmatchcase

import pytest

import rows

MACHINES = {
    "xapic": {"memory": "1536M"},
    "x2apic": {"memory": "1536M", "iommu": "intel"},
    "intel": {"machine": "intel"},
}

# Linux is in xAPIC mode and the cells in x2APIC mode: kind -> the machine of MACHINES. On the other
# kinds the cells are in the mode of the machine.
MIXED = {"mixed": "xapic", "intel-mixed": "intel"}
# Linux and the attacker's cell have direct IPIs, the witness has not
DIRECT = {"direct": "xapic"}
KINDS = (*MACHINES, *MIXED, *DIRECT)
# The monitor owns the IOMMU, and Linux has the device edu. For attacks of Linux by these alone
IOMMU = {"iommu": {"memory": "1536M", "iommu": "intel", "boot_args": ("iommu=pt",),
                   "qemu_args": ("-device", "edu,dma_mask=0xffffffff,addr=10.0")}}

# In Bochs an attack of Linux costs five seconds. Always run there: all attacks of Linux that reach
# code for VT-x alone, and one or two of each kind that reaches common code.
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


def mode(where: str) -> str:
    """Returns the mode of an arena of this kind."""
    return "x2apic" if where in MIXED else where if where in (*DIRECT, *IOMMU) else "machine"


# The attacks of Linux whose outcome may depend on the APIC mode of Linux
ON_X2APIC = ("front-icr-*", "front-xapic-in-x2", "front-apic-base", "front-msi-*", "front-ioapic-*")
FRONT = {"x2apic": ON_X2APIC, "intel": ON_INTEL}
# Attacks with cells of their own, which cost seconds: in the sample of `make check` everywhere.
# The attacks of cells on channels always run
COSTLY = "front-channel-"


def _marks(where: str, rare: bool) -> list[pytest.MarkDecorator]:
    settings = {**MACHINES, **IOMMU}[{**MIXED, **DIRECT}.get(where, where)]
    return [pytest.mark.machine(**settings), *([pytest.mark.thorough] if rare else [])]


def front_marks(where: str, name: str) -> list[pytest.MarkDecorator]:
    """Returns the marks of an attack of Linux on a machine of one of KINDS."""
    always = FRONT["intel"] if vendor(where) == "intel" else FRONT.get(where, ("*",))
    usual = any(fnmatchcase(name, pattern) for pattern in always)
    return _marks(where, name.startswith(COSTLY) or where in IOMMU or not usual)


def cell_attacks(where: str) -> list[tuple[rows.Row, list[pytest.MarkDecorator]]]:
    """Returns the attacks of cells on a machine of one of KINDS, each with its marks.

    Two attacks with the same function of the inmate and the same expected outcomes differ only in
    their numbers: of a port, of an MSR, of an interrupt. tests/unit compares the decisions for all
    numbers with lists and models. So the first of them always runs, and the others run in the
    sample. On xapic all always run. Attacks on memory always run: one may depend on the one
    before. Of the kind direct only those with the flag direct always run."""
    mixed = where in MIXED
    seen: set[tuple[str, ...]] = set()
    found = []
    for row in rows.every():
        if row.on(vendor(where), where == "x2apic", mixed, where in DIRECT):
            expected = row.there(vendor(where), mixed)
            # in Bochs, the kind mixed has shown the other outcomes, which common code decides
            few = mixed and vendor(where) == "intel"
            kind = (row.function, *([] if few else [each.partition("@")[0] for each in expected]))
            alike = kind in seen and row.family != "memory"
            rare = where in DIRECT and "direct" not in row.flags
            found.append((row, _marks(where, rare or (where != "xapic" and alike))))
            seen.add(kind)
    return found


def each_machine() -> list:
    """Returns one parameter for each machine, for the tests that end the use of a machine."""
    return [pytest.param(name, marks=pytest.mark.machine(**settings), id=name)
            for name, settings in MACHINES.items()]
