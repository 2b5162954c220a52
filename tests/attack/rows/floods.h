/* SPDX-License-Identifier: GPL-2.0-only */
/* As many exits, interrupts and characters as possible, without end: A14 */
ATTACK("flood-cpuid", flood_cpuid, 0, 0,
       "stopped", "", "CPUID in a loop")
ATTACK("flood-call", flood_call, 0, 0,
       "stopped", "", "calls of the monitor in a loop")
ATTACK("flood-vmrun", flood_vmrun, 0, 0,
       "stopped", "amd",
       "VMRUN in a loop, each one logged: on Intel's processors an unknown instruction")
ATTACK("flood-vmxon", flood_vmxon, 0, 0,
       "stopped", "intel",
       "VMXON in a loop, each one logged: on AMD's processors an unknown instruction")
ATTACK("flood-xsetbv", flood_xsetbv, 0, 0,
       "stopped", "", "XSETBV in a loop")
ATTACK("flood-efer", flood_efer, 0, 0,
       "stopped", "", "reads and writes EFER in a loop")
ATTACK("flood-invd", flood_invd, 0, 0,
       "stopped|failed:instruction", "", "INVD in a loop, which the monitor must not do to others")
ATTACK("flood-wbinvd", flood_wbinvd, 0, 0,
       "stopped|failed:instruction", "", "WBINVD in a loop")
ATTACK("flood-icr", flood_icr, 0, 0,
       "stopped", "", "interrupts to no CPU in a loop")
ATTACK("flood-nmi-self", flood_nmi, 0, 0,
       "stopped", "", "NMIs to itself in a loop: the monitor's own must still come through")
ATTACK("flood-stream", flood_stream, 0, 0,
       "stopped", "quesh", "prints without end")
ATTACK("flood-screen", flood_screen, 0, 0,
       "stopped", "quesh", "reports without end that its screen has changed")
ATTACK("flood-translations", flood_cr3, 0, 0,
       "stopped", "", "loads CR3 in a loop, so that nothing stays cached")
ATTACK("flood-memory", flood_memory, 0, 0,
       "stopped", "", "reads and writes all of its memory in a loop")
ATTACK("flood-cache-lines", flood_clflush, 0, 0,
       "stopped", "", "flushes its memory's cache lines in a loop")
ATTACK("flood-split-locks", flood_split_lock, 0, 0,
       "stopped", "", "locked increments across cache lines, which lock the bus")
ATTACK("flood-apic", flood_apic, 0, 0,
       "stopped", "", "writes its APIC's priority in a loop: an exit each in xAPIC mode")
