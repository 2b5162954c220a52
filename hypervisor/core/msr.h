/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MSRs: the vendor's table (svm/msr.c, vmx/msr.c) is the policy, the code here carries it out, and
 * scripts/msrs generates Documentation/reference/msrs.md from it. A cell reaches listed MSRs only.
 * Linux reaches everything but what is listed as kept from it: what would undo the monitor, move memory
 * or devices about, or reach CPUs that are not its own.
 */
#ifndef QV_MSR_H
#define QV_MSR_H

#include "cpu.h"

enum msr_action {
	OK,		/* directly, no exit; as on the bare machine, #GP included */
	OWN,		/* carried out or checked here; what is not allowed is refused as in FAIL */
	KEEP,		/* a write changes the bits of .mask only; others stay, counted and logged */
	ZERO,		/* reads as zero, a write is dropped, nobody is told */
	DROP,		/* the same, counted and logged */
	FAIL,		/* the cell fails; Linux gets #GP */
};

struct msr_rule {
	u32 first, last;
	u8 cell[2], front[2];	/* enum msr_action of a read, of a write */
	u64 mask;		/* KEEP: what Linux may change */
	const char *name, *why;
};

#define LAST_ROW	~0u	/* .last of the last row, which fits always */

/* The first row that fits counts */
extern const struct msr_rule vendor_msr_rules[];

/* What of @msr exits, in the vendor's permission map: bit 0 reads, bit 1 writes. False: it has no
 * place there, and so always exits */
bool vendor_msr_stop(u8 *map, u32 msr, u32 stop);
/* OWN rows but the APIC's: carry it out, *@value in or out; false: refused */
bool vendor_msr_own(struct pcpu *cpu, u32 msr, u64 *value, bool write);

/* @inst's permission map, by its creator */
void msr_build(struct instance *inst);
/* RDMSR or WRMSR has exited */
void exit_msr(struct pcpu *cpu, bool write);

/* traps.S: false: the processor raised #GP */
bool msr_read_safe(u32 msr, u64 *value);
bool msr_write_safe(u32 msr, u64 value);

#endif
