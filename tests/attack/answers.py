# SPDX-License-Identifier: GPL-2.0-only
"""The attacks and tests that cover the known leaks of other systems, and the attacks A1-A20.

An answer is the name of an attack (* matches any ending), a test, or the reason for a gap."""

OPEN = "open: "  # the beginning of an answer that names no attack and no test

ATTACKS: dict[str, tuple[str, ...]] = {
    "A1 read and write the monitor's, another cell's, Linux's RAM": ("mem-*", "front-write-hidden", "front-read-hidden"),
    "A2 VM_HSAVE_PA, VM_CR, EFER.SVME, SYSCFG, HWCR, TOM": ("msr-hsave-*", "msr-vm-cr", "msr-efer-*", "msr-syscfg", "msr-hwcr", "msr-tom*"),
    "A3 FEATURE_CONTROL, MISC_ENABLE, APIC base, MTRRs, microcode": (
        "msr-feature-control", "msr-misc-enable", "msr-apic-base-*", "msr-mtrr-*", "msr-microcode", "msr-patch-loader", "front-msr-*"),
    "A4 INVD, WBINVD": ("ins-invd", "ins-wbinvd", "flood-invd", "flood-wbinvd", "front-invd"),
    "A5 XSETBV, CR4, CR0": ("ins-xsetbv-*", "ins-cr4-*", "ins-cr0-*"),
    "A6 a hypervisor's instructions and calls": (
        "ins-vm*", "ins-call-*", "ins-inv*", "ins-getsec", "ins-user-*", "ins-stgi", "ins-clgi", "ins-skinit", "front-instructions", "front-hypercall-*"),
    "A7 interrupts in every mode to all CPUs": ("icr-*", "lvt-*", "xapic-*", "smp-*", "front-icr-*"),
    "A8 message-signalled interrupts": ("mem-write-msi", "front-msi-*", "tests/lab/test_devices.py"),
    "A9 DMA to foreign memory": ("tests/lab/test_iommu.py", "open: with `unsafe-dma`"),
    "A10 PCI configuration space": ("mem-read-ecam", "port-pci-*", "tests/lab/test_devices.py"),
    "A11 ports that reset, switch off, bring an SMI": ("port-*", "front-sleep", "front-eject-*"),
    "A12 triple fault, halt and loop with interrupts off": ("ins-triple-fault", "ins-hlt-off", "ins-loop-off", "shared-heartbeat-stops"),
    "A13 never answers a request to end": ("shared-shutdown-*",),
    "A14 floods": ("flood-*", "front-keys-flood"),
    "A15 corrupts channel indices": ("channel-*", "key-*", "outsider-*", "shared-*", "tests/fuzz/fuzz_channel.c"),
    "A16 the comm page changed while it is read": ("shared-flip*",),
    "A17 16-bit, 32-bit, PAE, paging off": ("smp-16-*", "ins-legacy-*", "ins-user-*", "ins-pae-*", "ins-plain-32", "ins-long-mode-exit"),
    "A18 storms of #DB and #AC": ("ins-db-storm", "ins-ac-storm"),
    "A19 what a cell left is not found by the next": ("mem-zeros*",),
    "A20 hostile configurations": ("front-hypercall-*", "front-ioctl-garbage", "tests/unit/test_request.c", "tests/unit/config/test_config.py"),
}

# Attacks by a user without privileges who may open channels
USERS: dict[str, tuple[str, ...]] = {
    "U1 opens devices without the right to": ("front-not-root", "tests/lab/test_management.py", "tests/lab/test_channel_devices.py"),
    "U2 keeps descriptors and mappings over the lives of channels": (
        "tests/lab/test_channel_users.py", "tests/lab/test_channel_keys.py", "tests/unit/driver/test_channel_files.c"),
    "U3 a flood of opens, and items of 7 MiB": ("tests/lab/test_channel_users.py", "tests/unit/driver/test_channel_files.c"),
    "U4 races of all calls with the end of the channel": ("tests/lab/test_channel_devices.py", "tests/unit/driver/test_channel_files.c"),
    "U5 keeps the module loaded": ("tests/lab/test_channel_users.py", "open: Linux takes no open file back; qvctl names the program"),
}

# Attacks on time by programs of Quest in ring 3
PROGRAMS: dict[str, tuple[str, ...]] = {
    "P1 makes each system call with its worst arguments, beside a thread on a VCPU": ("inmates/tests/test_worst_calls.py",),
    "P2 rings a channel in a loop": (
        "tests/unit/test_bell_rate.c", "open: the monitor answers at once; how long Quest then waits is not measured"),
    "P3 wild system calls, faults, floods of output": ("tests/lab/test_quest.py", "inmates/tests/unit_output.c"),
}

# Attacks by DMA and messages: of Linux, and of a cell with a device
DMA: dict[str, tuple[str, ...]] = {
    "D1 devices of Linux and entries for their interrupts": ("front-irte-*", "tests/unit/test_iommu_attacks.c", "tests/lab/test_iommu.py"),
    "D2 the units' queues, pointers, stores and messages": ("front-iommu-*", "tests/unit/test_iommu_attacks.c"),
    "D3 a cell's device: foreign memory, forged messages": ("tests/lab/test_iommu.py", "tests/unit/test_iommu_cell.c"),
    "D4 `setpci` at the physical function of a cell's virtual one: off, fewer, moved, reset, asleep": (
        "tests/lab/test_cell_igb.py", "tests/unit/test_pci_guard.c"),
    "D5 a cell gets the physical function of another cell's virtual one": ("tests/unit/test_pci_manage.c",),
    "D6 registers of the physical function lead DMA to the cell of its virtual one": (
        "open: the cell's level is *DMA devices* at most (security-model.md)",),
    "D7 DMA of Linux's devices where Linux translates": ("open: the level is *DMA devices*; *DMA full* needs `iommu=pt`",),
}

# Attacks on what all share: the log, and the locks of the front end's instance
SHARED: dict[str, tuple[str, ...]] = {
    "S1 pushes lines of others out of the log, or keeps its reader from an end": (
        "tests/attack/test_log.py", "tests/unit/test_log_book.c", "tests/unit/test_exits.c"),
    "S2 a fault of the monitor under each lock": ("tests/unit/test_events.c",),
}

LEAKS: dict[str, tuple[str, ...]] = {
    "1 MSIs go to any CPU on AMD": ("front-msi-*", "tests/lab/test_devices.py"),
    "2 the MSRs 0xC001xxxx are open": ("msr-*",),
    "3 SMCA registers outside the map kill": ("msr-smca*", "tests/unit/test_msr.c"),
    "4 a list of forbidden MSRs, instead of allowed MSRs": (
        "msr-misc-enable", "msr-perf-ctl", "msr-clock-modulation", "msr-microcode", "msr-tsc", "msr-debugctl", "msr-qos-*"),
    "5 INVD executes": ("ins-invd", "flood-invd", "front-invd"),
    "6 XSETBV and CR4 are free": ("ins-xsetbv-*", "ins-cr4-*"),
    "7 no IOMMU is accepted silently": ("tests/lab/test_devices.py",),
    "8-10 errors in IOMMU code": ("tests/unit/test_iommu.c", "tests/lab/test_iommu.py"),
    "11 memory is not scrubbed": ("mem-zeros*",),
    "12 machine checks": ("msr-mc*", "msr-smca*", "ins-cr4-mce"),
    "13 power management is open": ("msr-pstate*", "msr-cstate", "msr-power-limit", "msr-clock-modulation", "ins-mwait-deep"),
    "14 the NMI control port is open": ("port-nmi-*",),
    "15 shared caches": ("msr-qos-*", "open: caches and memory bandwidth are shared (CAVEATS.md)"),
    "16 no secure boot, no measured launch": ("open: CAVEATS.md",),
    "17 the root cell is trusted": ("front-*",),
    "18 the decoder knows MOV only": ("xapic-or", "xapic-xchg", "xapic-cmpxchg", "tests/unit/test_decode.c"),
    "19 CR0 by guest bytes, three bits of the register's number": ("ins-cr0-registers",),
    "20 CET, PKS, LAM or five levels stop enabling": ("tests/lab/test_takeover.py",),
    "21 CPUs that were offline at enable": ("open: CAVEATS.md",),
    "22 foreign NMIs are swallowed": ("icr-self-nmi", "flood-nmi-self", "tests/lab/test_takeover.py"),
}

TABLES = {"The list A1-A20": ATTACKS, "A user without privileges": USERS, "A program of Quest": PROGRAMS, "DMA and messages": DMA,
          "What all share": SHARED, "The 22 leaks of the field": LEAKS}
