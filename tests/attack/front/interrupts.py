# SPDX-License-Identifier: GPL-2.0-only
"""Linux sends interrupts to the CPU of the witness cell."""

from .linux import Linux, WITNESS, attack

LOWS = {
    "fixed": 0x4040,
    "lowest": 0x4140,
    "smi": 0x4200,
    "reserved": 0x4340,
    "nmi": 0x4400,
    "init": 0x4500,
    "init-deassert": 0x8500,
    "sipi": 0x4610,
    "extint": 0x4700
}


def add_interrupt(kind: str, low: int) -> None:
    @attack(f"front-icr-{kind}", f"its kernel sends the witness's CPU an interrupt: {kind}",
            "dropped, counted, logged")
    def send(linux: Linux) -> None:
        linux.counted(lambda: linux.do("icr", WITNESS, low, by="qvtouch"),
                      rf"IPI {low:#x} to a CPU outside the cell dropped \(destination 0x2\)")


for kind_, low_ in LOWS.items():
    add_interrupt(kind_, low_)


@attack("front-icr-logical", "its kernel names the witness's CPU logically, in each delivery mode",
        "dropped")
def icr_logical(linux: Linux) -> None:
    for low in LOWS.values():
        linux.do("icr", 1 << WITNESS, low | 0x800, by="qvtouch")


@attack("front-icr-nobody", "its kernel names CPUs that do not exist", "dropped, logged")
def icr_nobody(linux: Linux) -> None:
    for dest in (0x40, 0x7F, 0xFE):
        linux.do("icr", dest, 0x4500, by="qvtouch")


@attack("front-icr-in-xapic",
        "its kernel uses x2APIC's register in xAPIC mode",
        "#GP, or dropped",
        where="xapic")
def icr_x2_in_x1(linux: Linux) -> None:
    linux.try_("wrmsr", 0x830, WITNESS << 32 | 0x4500)


@attack("front-xapic-in-x2",
        "its kernel writes the xAPIC page in x2APIC mode",
        "without effect",
        where="x2apic")
def xapic_in_x2(linux: Linux) -> None:
    linux.try_("store", 0xFEE00310, WITNESS << 24)
    linux.try_("store", 0xFEE00300, 0x4500)


@attack("front-direct-fixed", "its kernel, with direct IPIs, interrupts the witness a hundred times",
        "given up: the witness takes them, and beats", where="direct")
def direct_fixed(linux: Linux) -> None:
    before = linux.arena.ask("neighbours")["denied"]
    assert None not in linux.each("icr", [(WITNESS, 0x4090)] * 100, by="qvtouch")
    assert linux.arena.ask("neighbours")["denied"] == before


@attack("front-direct-sipi", "its kernel, with direct IPIs, sends the witness a start-up",
        "without effect", where="direct")
def direct_sipi(linux: Linux) -> None:
    linux.do("icr", WITNESS, LOWS["sipi"], by="qvtouch")


MSI = {"fixed": 0x40, "nmi": 0x400, "init": 0x500, "smi": 0x200}


def add_msi(kind: str, data: int) -> None:
    @attack(f"front-msi-{kind}",
            f"its kernel stores what a device would, as a message to the witness's CPU: {kind}",
            "dropped; the first one counted and logged")
    def send(linux: Linux) -> None:
        def store() -> None:
            linux.try_("store", 0xFEE00000 | WITNESS << 12, data)

        if linux.arena.messages:
            store()
        else:
            linux.counted(store, "memory that is not its own at 0xfee02000")
        linux.arena.messages += 1


for kind_, data_ in MSI.items():
    add_msi(kind_, data_)

IOAPIC = {"fixed": 0x0040, "nmi": 0x0400, "init": 0x0500, "smi": 0x0200, "logical": 0x0840}


def add_ioapic(kind: str, low: int, high: int = 0) -> None:
    @attack(f"front-ioapic-{kind}",
            f"its kernel aims an IOAPIC pin at the witness's CPU: {kind}",
            "masked or dropped, counted",
            where="xapic")
    def aim(linux: Linux) -> None:
        dest = 1 << WITNESS if low & 0x800 else WITNESS
        linux.do("ioapic", 0x14, low, dest << 24 | high)
        entry = linux.value()
        assert entry & 1 << 16 or entry >> 56 != dest, f"entry {entry:#x}"


for kind_, low_ in IOAPIC.items():
    add_ioapic(kind_, low_)
    # the remapped format, which this machine does not have
    add_ioapic(f"{kind_}-remapped", low_, 1 << 16)


LDR = 0xFEE000D0  # logical destination register; Linux's CPU 0 has bit 0 there


@attack("front-ioapic-shared-name",
        "its kernel gives CPU 0 the logical id to which the witness's CPU answers in x2APIC mode, "
        "and aims an IOAPIC pin at it",
        "masked, counted, logged",
        where="mixed")
def ioapic_shared_name(linux: Linux) -> None:
    linux.do("store", LDR, (1 | 1 << WITNESS) << 24)
    try:
        for dest in (1 << WITNESS, 1 | 1 << WITNESS):
            linux.counted(lambda dest=dest: linux.do("ioapic", 0x14, 0x0840, dest << 24),
                          "interrupt pin 20 was to reach a CPU outside Linux")
            assert linux.value() & 1 << 16
    finally:
        linux.do("store", LDR, 1 << 24)


@attack("front-ioapic-unlisted",
        "its kernel writes where the chipset may have an IOAPIC that ACPI does not list",
        "dropped, counted, logged")
def ioapic_unlisted(linux: Linux) -> None:
    # Only the first write to a page is logged. A machine runs this attack twice.
    page = 0xFEC11000 if linux.mixed else 0xFEC10000
    linux.counted(lambda: linux.do("store", page, 0x14),
                  f"memory that is not its own at {page:#x}")
