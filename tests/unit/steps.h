/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs the fake machine in single steps. Each basic block of the manager's code first calls a
 * function here. In that call, another CPU of Linux acts, and CPUs take the NMIs that were sent to
 * them. Then the invariants of manage/manage.h are checked, with a model of the translations that
 * each CPU may have cached.
 */
#ifndef STEPS_H
#define STEPS_H

#include "world.h"

#define STEPS_ACTOR	2u		/* the CPU of Linux that acts; CPU 0 makes the calls */

enum steps_act {
	ACT_NOTHING,
	/* the actor writes the ICR for all other CPUs; ACT_NMI also sends a fixed interrupt */
	ACT_INIT, ACT_SIPI, ACT_INIT_SIPI, ACT_NMI,
	/* the same writes are decided now, and sent before or when the CPU leaves the exit */
	ACT_LATE_INIT, ACT_LATE_SIPI, ACT_LATE_NMI,
	ACT_READ, ACT_WRITE,				/* the actor accesses block and memory */
	ACT_CALLS,					/* the actor makes one call of each kind */
	ACT_LINUX_BELLS,		/* the actor moves the bells of a channel, and rings */
	/* a CPU of the cell looks at the target of a bell now, and sends it some steps later */
	ACT_CELL_BELL,
	ACTS
};

struct steps {
	enum steps_act act;
	u32 at;			/* the act is done before the step of this number */
	u32 lag;		/* steps until a CPU takes an NMI */
	u32 mute, mute_from;	/* the CPU (0: none) that takes no NMI from this call on */

	u32 count, calls;	/* so far */
	u32 there_from, there_to;	/* steps at which the cell's boot CPU was in the cell */
	bool forged;		/* Linux owned the block and wrote an instance into it */
};

/*
 * Runs the whole life of a cell: create, start, stop, reclaim. Checks each step. Returns the number
 * of steps.
 */
u32 steps_life(struct steps *s);
/*
 * If @patient is false, the clock advances only when it is read, so the manager soon gives up on a
 * mute CPU.
 */
void steps_open(bool patient);
const char *steps_act_name(enum steps_act act);
extern u64 steps_blocks;	/* basic blocks that this program has executed in some files */

#endif
