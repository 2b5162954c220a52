// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../kernel/wait.h"
#include "../user/include/quest/errors.h"
#include "bellcost.h"
#include "bounds.h"
#include "cellset.h"
#include "waits.h"

#define DEMAND_MAX_NS	(1ull << 40)
#define NS_MAX		(1ull << 62)	/* in cycles: a longer time is no bound */

static struct admission_entry set[SCHED_VCPUS];
static bool taken;			/* a thread uses the set */
static struct wait_queue queue;		/* threads that wait for it */

static void take_set(void)
{
	bool irqs = irq_save();

	while (taken)
		wait_on(&queue);
	taken = true;
	irq_restore(irqs);
}

static void give_set(void)
{
	bool irqs = irq_save();

	taken = false;
	wake_many(&queue);
	irq_restore(irqs);
}

/* Rounded up; BOUNDS_NEVER stays what it is. */
static uint64_t in_ns(uint64_t cycles)
{
	return cycles > NS_MAX / 1000 ? BOUNDS_NEVER : timer_to_ns(cycles) + 1;
}

int waits_of(int id, struct quest_ipc_wait *w)
{
	uint64_t wake = w->sleeps ? bellcost_wake() : 0, demand;
	struct bounds_end end;

	if (w->demand_ns > DEMAND_MAX_NS || w->sleeps > 1)
		return -EINVAL;
	demand = timer_from_ns(w->demand_ns) + 1;
	take_set();
	cellset_end(&end, set, id);
	end.wake = wake;
	end.merged = w->sleeps;
	w->paper_ns = in_ns(bounds_wait(BOUNDS_PAPER, &end, demand));
	w->now_ns = in_ns(bounds_wait(BOUNDS_RESPONSE, &end, demand));
	w->any_ns = in_ns(bounds_wait(BOUNDS_ADMITTED, &end, demand));
	w->wake_ns = wake ? in_ns(wake) : 0;
	give_set();
	return 0;
}
