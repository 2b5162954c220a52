/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cell with `ipi: direct` in the mode of the machine's APIC: interrupts that reach others, and
 * commands that have no effect. The emulator of AMD-V does not intercept an INIT, so there is no
 * row for it.
 */
ATTACK("direct-fixed-linux", icr, 0x40FD, 0,
       "harmless", "direct", "an interrupt to Linux's boot CPU, which takes it")
ATTACK("direct-fixed-witness", icr, 0x4090, 2,
       "harmless", "direct", "an interrupt to the witness, which takes it")
ATTACK("direct-others-fixed", icr, 0xC40FD, 0,
       "harmless", "direct", "shorthand: an interrupt to all others, the witness too")
ATTACK("direct-lowest-linux", icr, 0x41FD, 0,
       "harmless", "direct", "lowest priority, to Linux")
ATTACK("direct-nobody", icr, 0x40FD, 0x77,
       "harmless", "direct", "an interrupt to a CPU that does not exist")
ATTACK("direct-sipi-linux", icr, 0x4608, 1,
       "harmless", "direct", "a start-up to a CPU of Linux: it starts nothing")
ATTACK("direct-sipi-witness", icr, 0x4608, 2,
       "harmless", "direct", "a start-up to the witness: it starts nothing")
ATTACK("direct-self-nmi", icr, 0x44400, 0,
       "fault:nmi", "direct", "shorthand: an NMI to itself")
ATTACK("direct-flood-linux", direct_flood, 0x40FD, 0,
       "harmless", "direct", "twenty thousand interrupts to Linux's boot CPU")
ATTACK("direct-flood-witness", direct_flood, 0x4090, 2,
       "harmless", "direct", "twenty thousand interrupts to the witness")
