/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MSRs. The vendor's table (svm/msr.c, vmx/msr.c) is the policy; cell/msr.c and front/msr.c carry
 * out a column of it each. The comment above a row has the names of its MSRs and the reason.
 * scripts/msrs makes the tables of Documentation/reference/msrs.md. A cell reaches
 * listed MSRs only. Linux reaches all, except those that would undo the monitor, move memory or
 * devices, or reach CPUs of cells (law 4).
 */
#ifndef QV_MSR_H
#define QV_MSR_H

#include "instance.h"

enum msr_action {
	/*
	 * The guest accesses the MSR without an exit, as on the bare machine, #GP included. Where
	 * the permission map has no place for it, a cell fails, and the monitor carries it out for
	 * Linux.
	 */
	PASS,
	/* the monitor carries out or checks the access; a forbidden access is refused as in FAIL */
	EMUL,
	/* for writes: changes only the bits of .mask; a change of others is counted and logged */
	KEEP,
	ZERO,		/* reads as zero; a write is dropped without a trace */
	DROP,		/* as ZERO, but a write is counted and logged */
	FAIL,		/* the cell fails; Linux gets #GP */
};

struct msr_rule {
	u32 first, last;
	u8 cell[2], front[2];	/* enum msr_action of a read, and of a write */
	u64 mask;		/* KEEP: bits that Linux may change */
};

#define LAST_ROW	~0u	/* .last of the last row, which matches every MSR */

/* The first row that fits counts */
extern const struct msr_rule vendor_msr_rules[];

/*
 * Sets in the vendor's permission map whether reads (bit 0 of @stop) and writes (bit 1) of @msr
 * exit. Returns false if @msr has no place in the map: it always exits.
 */
bool vendor_msr_stop(u8 *map, u32 msr, u32 stop);
/* Carries out an access with action EMUL to an MSR outside the APIC. Returns false to reject it */
bool vendor_msr_emulate(struct pcpu *cpu, u32 msr, u64 *value, bool write);

/* Builds @inst's permission map; the creator of @inst calls it */
void msr_build(struct instance *inst);

/* An RDMSR or WRMSR that exited: cell/msr.c, front/msr.c */
struct msr_exit {
	u32 msr;
	bool write;
	/* in: the value that the guest writes; out: the value that it reads */
	u64 value;
	const struct msr_rule *rule;
};
/* Reads this CPU's exit into @x, and counts it */
void msr_exit(struct pcpu *cpu, struct msr_exit *x);
/* Ends the access: sets the registers and skips the instruction */
void msr_done(struct pcpu *cpu, const struct msr_exit *x);

/* traps.S: false: the processor raised #GP */
bool msr_read_safe(u32 msr, u64 *value);
bool msr_write_safe(u32 msr, u64 value);

#endif
