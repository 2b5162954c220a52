# SPDX-License-Identifier: GPL-2.0-only
"""Linux switches off, ejects or reconfigures hardware by the registers of the board."""

from .linux import HUGE, Linux, ONES, WITNESS, WITNESS_PORT, attack

SLEEPS = (0x2400, 0x2800, 0x3C00)  # SLP_EN with each type except 0, which is S5 in the emulators


@attack(
    "front-sleep",
    "its kernel puts the machine to sleep (S3, S4) by the PM1 control register, in each size of write",
    "dropped, counted, logged; "
    "OUTS: #GP")
def sleep(linux: Linux) -> None:
    pm1 = int(linux.machine.run("od -An -tu4 -j64 -N4 /sys/firmware/acpi/tables/FACP").out)
    linux.do("in", pm1, 2)
    before = linux.value()
    writes = [
        write for word in SLEEPS for write in ((pm1, 2, word), (pm1 + 1, 1, word >> 8),
                                               (pm1, 4, word), (pm1 - 1, 4, word << 8))
    ]
    linux.counted(lambda: linux.each("out", writes), r"put the machine to sleep by port",
                  len(writes))
    assert linux.try_("outs", pm1, SLEEPS[0]).rc != 0
    linux.do("in", pm1, 2)
    assert linux.value() == before


# The ports of QEMU's ICH9: docs/specs/acpi_cpu_hotplug, acpi_pci_hotplug
HOTPLUG = {
    "cpu": ((0xCD8, 4, WITNESS), (0xCDC, 1, 0x8), (0xCDC, 4, 0x18), (0xCDB, 2, 0x800)),
    "pci": ((0xCD0, 4, 0), (0xCC8, 4, 1 << 2), (0xCC9, 1, ONES & 0xFF))
}


def add_eject(kind: str, writes: tuple[tuple[int, int, int], ...]) -> None:
    @attack(f"front-eject-{kind}",
            f"its kernel ejects what others use by the board's hotplug registers: {kind}",
            "dropped, counted, logged",
            where="amd")
    def eject(linux: Linux) -> None:
        linux.counted(lambda: linux.each("out", list(writes)), "tried to eject hardware by port",
                      len(writes) - 1)


for kind_, writes_ in HOTPLUG.items():
    add_eject(kind_, writes_)


@attack("front-fw-cfg",
        "its kernel has QEMU's board write the witness's memory by DMA (fw_cfg)",
        "dropped, counted, logged",
        where="amd")
def fw_cfg(linux: Linux) -> None:
    linux.counted(lambda: linux.do("fwcfg",
                                   linux.hidden()[-1] + HUGE - 0x1000),
                  "have the board write memory by port 0x514", 2)
    assert linux.value() == 10, "the board has taken the command"


@attack("front-smi-enable",
        "its kernel has the chipset raise SMIs again and again (ICH9, SMI_EN)",
        "dropped, counted, logged",
        where="amd")
def smi_enable(linux: Linux) -> None:
    linux.do("in", 0x630, 4)
    before = linux.value()
    writes = [(0x630, 4, before | 1 << 14), (0x631, 1, before >> 8 & 0xFF | 0x40),
              (0x630, 2, before & 0xFFFF | 1 << 6)]
    linux.counted(lambda: linux.each("out", writes), "enable more system management interrupts",
                  len(writes))
    linux.do("out", 0x630, 4, before)  # a write of the old value is allowed
    linux.do("in", 0x630, 4)
    assert linux.value() == before


@attack("front-cell-port", "its kernel reads and writes a port of the witness's list",
        "ones, dropped, counted, logged")
def cell_port(linux: Linux) -> None:
    said = f"Linux used port {WITNESS_PORT:#x}, which is not its own"
    linux.counted(lambda: linux.do("in", WITNESS_PORT, 1), said)
    assert linux.value() == 0xFF
    linux.counted(lambda: linux.do("out", WITNESS_PORT, 1, 0x5A), said)


# By vendor: function, register and bits that move config space (Q35), open SMRAM (i440FX) or
# move the registers of ACPI
CHIPSET = {
    "amd": ((0x00, 0x60, 1 << 28), (0xF8, 0x40, 0x1000)),
    "intel": ((0x00, 0x70, 1 << 22), (0x0B, 0x40, 0x1000))
}


def config_refused(bdf: int, register: int) -> str:
    return rf"PCI config access \(function and register {bdf << 12 | register:#x}\) refused"


@attack(
    "front-chipset",
    "its kernel moves config space or opens SMRAM, and moves ACPI's registers, by 0xCF8 and 0xCFC",
    "dropped, counted, logged")
def chipset(linux: Linux) -> None:
    for bdf, register, flip in CHIPSET["intel" if linux.machine.config.machine ==
                                       "intel" else "amd"]:

        def access(deed: str, *value: int, at: int = 1 << 31 | bdf << 8 | register) -> None:
            linux.do("out", 0xCF8, 4, at)
            linux.do(deed, 0xCFC, 4, *value)

        access("in")
        before = linux.value()
        assert before not in (0, 0xFFFFFFFF)
        linux.counted(lambda write=access, value=before ^ flip: write("out", value),
                      config_refused(bdf, register))
        access("in")
        assert linux.value() == before


@attack("front-chipset-ecam",
        "its kernel does the same by memory-mapped config space",
        "dropped, counted, logged",
        where="amd")
def chipset_ecam(linux: Linux) -> None:
    base = int(linux.machine.run("od -An -tu8 -j44 -N8 /sys/firmware/acpi/tables/MCFG").out)
    for bdf, register, flip in CHIPSET["amd"]:
        linux.do("out", 0xCF8, 4, 1 << 31 | bdf << 8 | register)
        linux.do("in", 0xCFC, 4)
        before = linux.value()
        linux.counted(lambda at=base +
                      (bdf << 12) + register, value=before ^ flip: linux.do("store", at, value),
                      config_refused(bdf, register))
        linux.do("in", 0xCFC, 4)
        assert linux.value() == before
