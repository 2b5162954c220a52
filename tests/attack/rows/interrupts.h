/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupts to other CPUs, and unusual interrupts to itself: A7. Linux has CPU 0, the witness has
 * CPU 2.
 */
ATTACK("icr-fixed-linux", icr, 0x40FD, 0,
       "failed:ipi", "", "an interrupt to Linux's boot CPU")
ATTACK("icr-fixed-witness", icr, 0x4040, 2,
       "failed:ipi", "", "an interrupt to the witness")
ATTACK("icr-lowest-linux", icr, 0x41FD, 0,
       "failed:ipi", "", "lowest priority, to Linux")
ATTACK("icr-smi-linux", icr, 0x4200, 0,
       "failed:ipi", "", "an SMI to Linux")
ATTACK("icr-reserved-linux", icr, 0x4300, 0,
       "failed:ipi", "", "a reserved delivery mode, to Linux")
ATTACK("icr-nmi-linux", icr, 0x4400, 0,
       "failed:ipi", "", "an NMI to Linux")
ATTACK("icr-nmi-witness", icr, 0x4400, 2,
       "failed:ipi", "", "an NMI to the witness")
ATTACK("icr-init-linux", icr, 0x4500, 0,
       "failed:ipi", "", "an INIT to Linux")
ATTACK("icr-init-witness", icr, 0x4500, 2,
       "failed:ipi", "", "an INIT to the witness")
ATTACK("icr-init-deassert", icr, 0x8500, 2,
       "failed:ipi|harmless", "", "an INIT level de-assert to the witness")
ATTACK("icr-sipi-linux", icr, 0x4608, 1,
       "failed:ipi", "", "a start-up to a CPU of Linux")
ATTACK("icr-sipi-witness", icr, 0x4608, 2,
       "failed:ipi", "", "a start-up to the witness")
ATTACK("icr-extint-linux", icr, 0x4700, 0,
       "failed:ipi", "", "an ExtINT to Linux")
ATTACK("icr-nobody", icr, 0x40FD, 0x77,
       "failed:ipi", "", "an interrupt to a CPU that does not exist")
ATTACK("icr-256", icr, 0x4500, 0x100,
       "failed:ipi", "x2apic", "an INIT to id 256, which is 0 in eight bits")
ATTACK("icr-65536", icr, 0x4500, 0x10000,
       "failed:ipi", "x2apic", "an INIT to id 65,536, which is 0 in sixteen bits")
ATTACK("icr-highest", icr, 0x4500, 0xFFFFFFFE,
       "failed:ipi", "x2apic", "an INIT to the highest id")
ATTACK("icr-broadcast-8", icr, 0x40FD, 0xFF,
       "failed:ipi", "x2apic", "xAPIC's broadcast in x2APIC mode")
ATTACK("icr-broadcast-fixed", icr_broadcast, 0x40FD, 0,
       "harmless", "", "an interrupt to all ids")
ATTACK("icr-broadcast-init", icr_broadcast, 0x4500, 0,
       "harmless", "", "an INIT to all ids")
ATTACK("icr-broadcast-sipi", icr_broadcast, 0x4608, 0,
       "harmless", "", "a start-up to all ids")
ATTACK("icr-broadcast-smi", icr_broadcast, 0x4200, 0,
       "harmless", "", "an SMI to all ids")
ATTACK("icr-broadcast-nmi", icr_broadcast, 0x4400, 0,
       "fault:nmi", "", "an NMI to all ids: its own CPU gets it")
ATTACK("icr-broadcast-logical", icr_broadcast, 0x4D00, 0,
       "harmless", "", "an INIT to all by a logical name")
ATTACK("icr-others-fixed", icr, 0xC40FD, 0,
       "harmless", "", "shorthand: an interrupt to all others")
ATTACK("icr-others-nmi", icr, 0xC4400, 0,
       "harmless", "", "shorthand: an NMI to all others")
ATTACK("icr-others-init", icr, 0xC4500, 0,
       "harmless", "", "shorthand: an INIT to all others")
ATTACK("icr-others-sipi", icr, 0xC4608, 0,
       "harmless", "", "shorthand: a start-up to all others")
ATTACK("icr-others-smi", icr, 0xC4200, 0,
       "harmless", "", "shorthand: an SMI to all others")
ATTACK("icr-all-nmi", icr, 0x84400, 0,
       "fault:nmi", "", "shorthand: an NMI to all, itself too")
ATTACK("icr-all-init", icr, 0x84500, 0,
       "harmless", "", "shorthand: an INIT to all, itself too")
ATTACK("icr-self-nmi", icr, 0x44400, 0,
       "fault:nmi", "", "shorthand: an NMI to itself")
ATTACK("icr-self-smi", icr, 0x44200, 0,
       "harmless", "", "shorthand: an SMI to itself")
ATTACK("icr-self-init", icr, 0x44500, 0,
       "harmless", "", "shorthand: an INIT to itself")
ATTACK("icr-exception-vectors", icr_vectors, 0, 15,
       "harmless", "", "vectors that are exceptions, to itself")
ATTACK("icr-sweep", icr_sweep, 0, 0,
       "harmless", "", "each delivery mode to each logical name, each shorthand")
ATTACK("icr-clusters", icr_clusters, 0, 0,
       "harmless", "x2apic", "logical names in clusters that are not its own, all 32 bits used")
ATTACK("icr-reserved-bits", icr, 0xFFF00000, 0,
       "harmless|failed:ipi|fault:gp", "", "the reserved bits of the command")
ATTACK("icr-self-ipi", icr_self_register, 32, 255,
       "harmless", "x2apic", "the self-IPI register with every vector of an interrupt")
ATTACK("icr-flood-self", icr_flood_self, 20000, 0,
       "harmless", "", "twenty thousand interrupts to itself")
ATTACK("icr-flood-nobody", icr_flood_nobody, 20000, 0,
       "harmless", "", "twenty thousand interrupts to a name that no CPU has")
ATTACK("xapic-ldr-games", xapic_ldr, 0x4D00, 0,
       "harmless", "xapic", "takes logical names of others, then an INIT to them")
ATTACK("xapic-cluster-games", xapic_cluster, 0x4D00, 0,
       "harmless", "xapic", "changes to clusters and back, with INITs to each name")
ATTACK("xapic-id-steal", xapic_id, 0x4500, 0,
       "failed:ipi", "xapic", "gives itself the id of Linux's CPU, then an INIT to that id")
ATTACK("xapic-id-write", xapic_id_write, 0x1000000, 0,
       "harmless", "xapic", "gives itself another id: the register keeps the old one")
ATTACK("xapic-byte", xapic_bytes, 0, 0,
       "failed:memory|harmless|failed:instruction", "xapic", "writes the command byte by byte")
ATTACK("xapic-word", xapic_words, 0, 0,
       "failed:memory|harmless|failed:instruction", "xapic", "writes the command in 16-bit halves")
ATTACK("xapic-quad", xapic_quad, 0, 0,
       "failed:memory|failed:ipi|harmless|failed:instruction", "xapic",
       "writes the command and its destination as one 64-bit word")
ATTACK("xapic-unaligned", xapic_store_at, 0x302, 0x45004500,
       "failed:memory|harmless|failed:ipi|failed:instruction", "xapic",
       "writes across two registers")
ATTACK("xapic-between", xapic_store_at, 0x304, 0x4500,
       "failed:memory|harmless|failed:ipi|failed:instruction", "xapic",
       "writes next to the command register")
ATTACK("xapic-cross-page-in", xapic_cross, 0xFEDFFFFE, 0,
       "failed:memory", "xapic", "writes into the page from the one before")
ATTACK("xapic-cross-page-out", xapic_cross, 0xFEE00FFE, 0,
       "failed:memory|harmless", "xapic", "writes out of the page into the one after")
ATTACK("xapic-string", xapic_string, 0x4500, 0,
       "failed:memory|failed:ipi|failed:instruction", "xapic",
       "writes the whole page by a string instruction")
ATTACK("xapic-movs", xapic_movs, 0x4500, 0,
       "failed:memory|failed:ipi|failed:instruction", "xapic", "copies a command there by MOVS")
ATTACK("xapic-sse", xapic_sse, 0, 0,
       "failed:memory|failed:ipi|failed:instruction", "xapic", "writes 16 bytes by SSE")
ATTACK("xapic-cmpxchg", xapic_cmpxchg, 0x4500, 0,
       "failed:memory|failed:ipi|failed:instruction", "xapic", "compares and exchanges the command")
ATTACK("xapic-xchg", xapic_xchg, 0x4500, 0,
       "failed:ipi|failed:memory", "xapic", "exchanges the command")
ATTACK("xapic-or", xapic_or, 0x4500, 0,
       "failed:ipi|failed:memory", "xapic", "ors an INIT into the command")
ATTACK("xapic-inc", xapic_inc, 0, 0,
       "failed:memory|failed:instruction", "xapic", "increments the command")
ATTACK("xapic-push", mem_stack, 0xFEE00000, 0,
       "failed:memory|failed:instruction", "xapic", "has its stack in the page")
ATTACK("xapic-execute", mem_execute, 0xFEE00000, 0,
       "failed:memory@0xfee00000", "xapic", "executes the page")
ATTACK("xapic-prefixes", xapic_prefixes, 0x4500, 0,
       "failed:ipi|failed:memory|failed:instruction", "xapic",
       "a command with segment, size and address prefixes")
ATTACK("xapic-all-registers", xapic_registers, 0, 0,
       "harmless", "xapic", "writes every register that commands nothing")
ATTACK("xapic-reserved", xapic_reserved, 0, 0,
       "harmless|failed:memory", "xapic", "reads and writes what no APIC has")
ATTACK("lvt-timer-smi", lvt_timer, 0x200, 0,
       "harmless|failed:msr|failed:memory|fault:gp", "", "its timer is to bring an SMI")
ATTACK("lvt-timer-nmi", lvt_timer, 0x400, 0,
       "harmless|fault:nmi|failed:msr|failed:memory|fault:gp", "", "its timer is to bring an NMI")
ATTACK("lvt-timer-init", lvt_timer, 0x500, 0,
       "harmless|failed:msr|failed:memory|fault:gp", "", "its timer is to bring an INIT")
ATTACK("lvt-timer-extint", lvt_timer, 0x700, 0,
       "harmless|failed:msr|failed:memory|fault:gp", "",
       "its timer is to bring an ExtINT, whose vector comes from the PIC")
ATTACK("lvt-lint0-extint", lvt, 0x350, 0x700,
       "harmless|failed:msr|failed:memory|fault:gp", "", "opens the PIC's line to itself")
ATTACK("lvt-lint0-smi", lvt, 0x350, 0x200,
       "harmless|failed:msr|failed:memory|fault:gp", "", "the PIC's line is to bring an SMI")
ATTACK("lvt-lint1-nmi", lvt, 0x360, 0x400,
       "harmless|failed:msr|failed:memory|fault:gp", "", "takes the board's NMI line")
ATTACK("lvt-error-smi", lvt_error, 0x200, 0,
       "harmless|failed:msr|failed:memory|fault:gp", "",
       "its errors are to bring an SMI, then an error")
ATTACK("lvt-error-init", lvt_error, 0x500, 0,
       "harmless|failed:msr|failed:memory|fault:gp", "",
       "its errors are to bring an INIT, then an error")
ATTACK("lvt-extended", lvt_extended, 0x500, 0x400,
       "harmless|failed:msr|failed:memory|fault:gp", "", "AMD's extended entries: an NMI")
ATTACK("apic-off", apic_off, 0, 0,
       "harmless", "", "switches its APIC off by software: Linux still gets the CPU back")
ATTACK("apic-timer-storm", apic_timer_storm, 20000, 0,
       "stopped", "", "a periodic timer every 20 microseconds")
ATTACK("apic-no-eoi", apic_no_eoi, 0, 0,
       "harmless", "", "leaves every vector in service: the next owner's interrupts still come")
