/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MSRs. The vendor's table (svm/msr.c, vmx/msr.c) is the policy; cell/msr.c and front/msr.c carry
 * out a column of it each. scripts/msrs generates Documentation/reference/msrs.md from it. A cell
 * reaches listed MSRs only. Linux reaches all, except those that would undo the monitor, move
 * memory or devices, or reach CPUs of cells (law 4).
 */
#ifndef QV_MSR_H
#define QV_MSR_H

#include "instance.h"

enum msr_action {
	OK,		/* directly, no exit; as on the bare machine, #GP included */
	OWN,		/* carried out or checked here; a forbidden access is refused as in FAIL */
	/* a write changes the bits of .mask only; others stay, counted and logged */
	KEEP,
	ZERO,		/* reads as zero, a write is dropped without a trace */
	DROP,		/* the same, counted and logged */
	FAIL,		/* the cell fails; Linux gets #GP */
};

struct msr_rule {
	u32 first, last;
	u8 cell[2], front[2];	/* enum msr_action of a read, of a write */
	u64 mask;		/* KEEP: bits that Linux may change */
	const char *name, *why;
};

#define LAST_ROW	~0u	/* .last of the last row, which fits always */

/* The first row that fits counts */
extern const struct msr_rule vendor_msr_rules[];

/*
 * Sets in the vendor's permission map whether reads (bit 0 of @stop) and writes (bit 1) of @msr
 * exit. Returns false if @msr has no place in the map: it always exits.
 */
bool vendor_msr_stop(u8 *map, u32 msr, u32 stop);
/* Carries out an access to an MSR with action OWN, not of the APIC. False: rejected */
bool vendor_msr_own(struct pcpu *cpu, u32 msr, u64 *value, bool write);

/* Builds @inst's permission map; for its creator */
void msr_build(struct instance *inst);

/* An RDMSR or WRMSR that exited: cell/msr.c, front/msr.c */
struct msr_exit {
	u32 msr;
	bool write;
	u64 value;		/* in: the value written; out: the value read */
	const struct msr_rule *rule;
};
/* Reads the exit of this CPU into @x, counts it */
void msr_exit(struct pcpu *cpu, struct msr_exit *x);
/* The access is done: sets the registers, skips the instruction */
void msr_done(struct pcpu *cpu, const struct msr_exit *x);

/* traps.S: false: the processor raised #GP */
bool msr_read_safe(u32 msr, u64 *value);
bool msr_write_safe(u32 msr, u64 value);

#endif
