/* SPDX-License-Identifier: GPL-2.0-only */
/* Cells with two CPUs; the second starts in 16-bit mode, as on any PC: A7, A17 */
ATTACK("smp-start", second_start, 0, 0,
       "harmless", "smp", "starts its second CPU, as it may")
ATTACK("smp-init-flood", second_flood, 0x500, 0,
       "harmless", "smp", "a thousand INITs and start-ups to its own second CPU")
ATTACK("smp-nmi-flood", second_flood, 0x400, 0,
       "harmless", "smp", "a thousand NMIs to its own second CPU")
ATTACK("smp-fixed-flood", second_flood, 0xFD, 0,
       "harmless", "smp", "a thousand interrupts to its own second CPU, which takes none")
ATTACK("smp-others-fails", second_fails, 0, 0,
       "failed:memory@0xfec00000", "smp",
       "one loops with interrupts off, the other fails: both stop")
ATTACK("smp-both-fail", second_both, 0, 0,
       "failed:memory", "smp", "both touch foreign memory at once")
ATTACK("smp-16-memory", second_code, 0, 0,
       "failed:memory@0xfec00000", "smp", "16-bit code with 4 GiB segments reads the IOAPIC (A17)")
ATTACK("smp-16-port", second_code, 1, 0,
       "failed:port@0xcf9", "smp", "16-bit code resets the machine (A17)")
ATTACK("smp-16-msr", second_code, 2, 0,
       "failed:msr@0xc0010117", "smp", "16-bit code writes VM_HSAVE_PA (A17)")
ATTACK("smp-16-triple", second_code, 3, 0,
       "failed:triple-fault", "smp", "16-bit code without an interrupt table traps")
ATTACK("smp-16-vmrun", second_code, 6, 1,
       "harmless", "smp amd", "VMRUN in 16-bit mode is #UD there too")
ATTACK("smp-16-vmmcall", second_code, 7, 1,
       "harmless", "smp", "VMMCALL in 16-bit mode is #UD there too")
ATTACK("smp-16-vmcall", second_code, 8, 1,
       "harmless", "smp", "VMCALL in 16-bit mode is #UD there too")
ATTACK("smp-16-vmxon", second_code, 9, 1,
       "harmless", "smp intel", "VMXON in 16-bit mode is #UD there too")
ATTACK("smp-16-icr", second_code, 4, 0,
       "failed:ipi", "smp xapic", "16-bit code with 4 GiB segments sends an INIT to Linux (A17)")
ATTACK("smp-16-wild", second_code, 5, 0,
       "stopped|failed", "smp", "runs into whatever lies in its low memory")
ATTACK("smp-decode-race", second_race, 0, 0,
       "stopped|failed:ipi|failed:memory|failed:instruction", "smp xapic",
       "changes an instruction while the monitor decodes it")
ATTACK("smp-init-mid-exit", second_init_busy, 0, 0,
       "harmless", "smp", "INITs to a CPU that is in the monitor all the time")
