/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fake machine step by step: the manager's code is compiled so that each of its basic blocks calls
 * here first. Another CPU of Linux's acts there, CPUs take the NMIs that were sent to them, and what
 * manage/manage.h says is checked, with a model of who may have cached which translation.
 */
#ifndef STEPS_H
#define STEPS_H

#include "world.h"

#define STEPS_ACTOR	2u		/* the CPU of Linux's that acts; 0 makes the calls */

enum steps_act {
	ACT_NOTHING,
	ACT_INIT, ACT_SIPI, ACT_INIT_SIPI, ACT_NMI,	/* by the ICR, to all others; with the NMI a fixed interrupt */
	ACT_LATE_INIT, ACT_LATE_SIPI, ACT_LATE_NMI,	/* decided now, sent when the CPU next leaves the exit at the latest */
	ACT_READ, ACT_WRITE,				/* touches of block and memory */
	ACT_CALLS,					/* one of each */
	ACTS
};

struct steps {
	enum steps_act act;
	u32 at;			/* the step before which it is done */
	u32 lag;		/* steps until a CPU takes an NMI */
	u32 mute, mute_from;	/* CPU (0: none) that takes none any more from this call on */

	u32 count, calls;	/* so far */
	bool forged;		/* Linux had the block, and wrote an instance of its own there */
};

/* A cell's whole life: create, start, stop, reclaim. Judges each step; returns the number of steps */
u32 steps_life(struct steps *s);
void steps_open(bool patient);	/* false: time goes by with looks at the clock, and a mute CPU is given up soon */
const char *steps_act_name(enum steps_act act);

#endif
