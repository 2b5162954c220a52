/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fake machine in single steps. The manager's code is compiled so that each of its basic blocks
 * calls here first. There, another CPU of Linux acts, and CPUs take the NMIs that were sent to
 * them. Then the invariants of manage/manage.h are checked, with a model of the translations that
 * each CPU may have cached.
 */
#ifndef STEPS_H
#define STEPS_H

#include "world.h"

#define STEPS_ACTOR	2u		/* the CPU of Linux that acts; CPU 0 makes the calls */

enum steps_act {
	ACT_NOTHING,
	/* writes of the ICR, to all other CPUs; ACT_NMI sends a fixed interrupt, too */
	ACT_INIT, ACT_SIPI, ACT_INIT_SIPI, ACT_NMI,
	/* the same, decided now; sent when the CPU leaves the exit, or before */
	ACT_LATE_INIT, ACT_LATE_SIPI, ACT_LATE_NMI,
	ACT_READ, ACT_WRITE,				/* accesses to block and memory */
	ACT_CALLS,					/* one call of each kind */
	ACTS
};

struct steps {
	enum steps_act act;
	u32 at;			/* the act is done before this step */
	u32 lag;		/* steps until a CPU takes an NMI */
	u32 mute, mute_from;	/* CPU (0: none) that takes no NMI from this call on */

	u32 count, calls;	/* so far */
	bool forged;		/* Linux had the block, and wrote an instance there */
};

/*
 * Runs a cell's whole life: create, start, stop, reclaim. Checks each step. Returns their number.
 */
u32 steps_life(struct steps *s);
/* @patient false: only reading the clock advances it, so the manager soon gives up a mute CPU. */
void steps_open(bool patient);
const char *steps_act_name(enum steps_act act);

#endif
