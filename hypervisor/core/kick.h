/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands between CPUs: kick.c has the table of them. */
#ifndef QV_KICK_H
#define QV_KICK_H

#include "cpu.h"

/*
 * An NMI without a command belongs to the monitor in two cases. It comes within STRAY_MS of a
 * command that was found without its NMI or announced again. Or it comes within START_MS of a
 * guest's start: the NMI for the start has been sent by then, and a later NMI is for the guest.
 */
#define ACK_DEADLINE_MS	2000	/* the longest wait for another CPU */
#define STRAY_MS	1000
#define START_MS	1

static inline void expect_stray(struct pcpu *cpu, u32 ms)
{
	cpu->stray_until = rdtsc() + (u64)me()->boot.tsc_khz * ms;
}

/* kick.c */
void kick(struct pcpu *target, u32 cmd);
/* Returns all commands that are pending; their NMIs have been sent */
u32 take_commands(struct pcpu *cpu);
/*
 * Waits until @answers acknowledges @cmd, which was sent to @asked. Both are the same CPU, but may
 * be in two instances. Returns false 2 s after @start (TSC).
 */
bool wait_ack(struct pcpu *asked, const struct pcpu *answers, u32 cmd, u64 start);

/* commands.c: the handlers of an NMI exit. It is a command for this CPU, or the guest's own NMI */
void cell_nmi(struct pcpu *cpu);
void front_nmi(struct pcpu *cpu);
/*
 * Carries out commands whose NMIs were dropped. Draining the APIC takes NMIs as well and drops
 * them. Also called after a cell's #DB and #AC, since these are injected again. If the delivery of
 * such an exception raises another one, this may repeat forever, without an instruction or an NMI
 * in between (CVE-2015-5307, CVE-2015-8104).
 */
void cell_late_commands(struct pcpu *cpu);
void front_commands(struct pcpu *cpu, u32 cmd);	/* the effects of @cmd on a CPU of Linux */

#endif
