# SPDX-License-Identifier: GPL-2.0-only
"""Linux writes registers and executes privileged instructions."""

from product import HYPERVISOR

from .linux import APIC_BASE, EFER, HSAVE, Linux, MICROCODE, VM_CR, attack

# Some registers exist on one vendor's processors only and are tried only there: where="amd" or
# "intel"


@attack("front-msr-hsave",
        "its kernel moves the place where the processor keeps the monitor's state",
        "dropped, counted, logged",
        where="amd")
def msr_hsave(linux: Linux) -> None:
    linux.counted(lambda: linux.do("wrmsr", HSAVE, 0x1000), f"MSR {HSAVE:#x} refused")
    linux.do("rdmsr", HSAVE)
    assert linux.value() == 0


@attack("front-msr-microcode",
        "its kernel loads microcode under the cells",
        "dropped, counted, logged",
        where="intel")
def msr_microcode(linux: Linux) -> None:
    linux.counted(lambda: linux.do("wrmsr", MICROCODE, 0x100000), f"MSR {MICROCODE:#x} refused")


@attack("front-msr-vm-cr",
        "its kernel locks SVM and redirects INITs",
        "dropped, counted, logged",
        where="amd")
def msr_vm_cr(linux: Linux) -> None:
    linux.counted(lambda: linux.do("wrmsr", VM_CR, 0x1A), f"MSR {VM_CR:#x} refused")


@attack(
    "front-msr-efer",
    "its kernel switches SVM off under the monitor, sets reserved bits, and bits that some processors lack",
    "without effect, or #GP")
def msr_efer(linux: Linux) -> None:
    linux.do("rdmsr", EFER)
    efer = linux.value()
    linux.do("wrmsr", EFER, efer & ~0x1000)
    assert linux.try_("wrmsr", EFER, efer | 1 << 40).rc != 0
    assert linux.try_("wrmsr", EFER, efer & ~0x100).rc != 0, "not out of long mode"
    # VM entry fails for a guest with a bit that the processor lacks.
    bits = (13, 14, 15, 17, 18, 20, 21)
    values = [value for bit in bits for value in (efer | 1 << bit, efer)]
    answers = linux.each("wrmsr", [(EFER, value) for value in values])
    assert None not in answers[1::2], "the old value can be written"
    linux.do("rdmsr", EFER)
    assert linux.value() == efer


@attack("front-apic-base", "its kernel moves its APIC page over other memory, and changes its mode",
        "without effect, counted, logged")
def apic_base(linux: Linux) -> None:
    linux.do("rdmsr", APIC_BASE)
    base = linux.value()
    for flip in (0x1000, 0x800, 0x400, 0x40000000):
        linux.counted(lambda flip=flip: linux.do("wrmsr", APIC_BASE, base ^ flip),
                      f"MSR {APIC_BASE:#x} refused")
    linux.do("rdmsr", APIC_BASE)
    assert linux.value() == base


# Registers of the whole machine. A write that flips these bits must not change the value
KEPT = {
    "": {
        "mtrr": (0x200, 0x6),
        "mtrr-fixed": (0x250, 0x6),
        "cache-mask": (0xC90, 0x1)
    },
    "amd": {
        "syscfg": (0xC0010010, 0x40000),
        "hwcr": (0xC0010015, 0x1),
        "iorr": (0xC0010016, 0x18),
        "tom": (0xC001001A, 0x800000),
        "tom2": (0xC001001D, 0x800000),
        "smm-mask": (0xC0010113, 0x3),
        "smi-on-io": (0xC0010050, 0x1)
    },
    "intel": {
        "feature-control": (0x3A, 0x4),
        "no-nx": (0x1A0, 1 << 34),
        "smm-monitor": (0x9B, 0x1),
        "smrr": (0x1F2, 0x6),
        "trace-output": (0x560, 0x40000000),
        "trace": (0x570, 0x1),
        "feedback-table": (0x17D0, 0x40000001),
        "user-interrupts": (0x98A, 0x1),
        "pebs-base": (0x3F4, 0x40000000),
        "power-limit": (0x610, 0x1),
        "voltage": (0x150, 0x1100000000),
        "turbo": (0x1AD, 0x1),
        "uncore": (0x620, 0x1),
        "encryption": (0x982, 0x2),
        "debug-interface": (0xC80, 0x1)
    },
}


def add_kept(kind: str, msr: int, bits: int, where: str) -> None:
    @attack(f"front-msr-{kind}",
            f"its kernel changes what the whole machine shares: {kind} ({msr:#x})",
            "without effect, counted, or #GP", where)
    def write(linux: Linux) -> None:
        if linux.try_("rdmsr", msr).rc:
            return  # this processor does not have the register, so the read faults
        before = linux.value()
        linux.try_("wrmsr", msr, before ^ bits)
        linux.do("rdmsr", msr)
        assert linux.value() == before


# Registers that the emulators lack. The counters and the log show that the write was refused
SHARED = {
    "": {
        "tsc": (0x10, 1 << 40)
    },
    "amd": {
        "cpuid": (0xC0011004, 1 << 23),
        "cpuid-more": (0xC0011005, 1 << 2),
        "smm-key": (0xC0010119, 0x1),
        "table-walker": (0xC0011023, 1 << 49),
        "load-store": (0xC0011020, 1 << 28)
    },
    "intel": {
        "tsc-adjust": (0x3B, 1 << 40),
        "trace-hub": (0x80, 0x40000000),
        "uncore-prmrr": (0x2F4, 0x40000000)
    },
}


def add_shared(kind: str, msr: int, bits: int, where: str) -> None:
    @attack(f"front-msr-{kind}", f"its kernel changes what others use too: {kind} ({msr:#x})",
            "without effect, counted and logged, or #GP", where)
    def write(linux: Linux) -> None:
        if linux.try_("rdmsr", msr).rc:
            return  # this processor does not have the register, so the read faults
        linux.counted(lambda: linux.do("wrmsr", msr, linux.value() ^ bits), f"MSR {msr:#x} refused")


for where_, registers in SHARED.items():
    for kind_, (msr_, bits_) in registers.items():
        add_shared(kind_, msr_, bits_, where_)

for where_, registers in KEPT.items():
    for kind_, (msr_, bits_) in registers.items():
        add_kept(kind_, msr_, bits_, where_)


# An AMD processor itself raises #GP. QEMU accepts reserved bits and then fails the next VM entry.
@attack("front-cr4-vmxe",
        "its kernel enables VT-x in CR4, for a hypervisor of its own",
        "#GP, and CR4 is as before",
        where="intel")
def cr4_vmxe(linux: Linux) -> None:
    before = linux.control("cr4", 0)
    assert linux.try_("cr4", 1 << 13).rc != 0
    assert linux.control("cr4", 0) == before and not before & 1 << 13


@attack("front-cr0-ne", "its kernel wants the FPU's errors by a pin of the chipset",
        "it reads what it wrote")
def cr0_ne(linux: Linux) -> None:
    before = linux.control("cr0", 0)
    assert linux.control("cr0", 1 << 5) == before ^ 1 << 5
    assert linux.control("cr0", 0) == before


@attack("front-instructions", "its kernel executes a hypervisor's instructions, of both vendors",
        "#UD")
def instructions(linux: Linux) -> None:
    done = linux.machine.run(
        f"for i in {' '.join(HYPERVISOR)}; do echo $i >/sys/module/qvtouch/parameters/instruction && echo done: $i; done; true"
    )
    assert "done:" not in done.out and done.out.count("Bad address") == len(HYPERVISOR), done.out


@attack("front-invd", "its kernel throws away what caches hold", "nothing is lost")
def invd(linux: Linux) -> None:
    for _ in range(10):
        assert linux.machine.run("echo invd >/sys/module/qvtouch/parameters/instruction").rc == 0
