// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include "../ipc/bounds.h"
#include "../ipc/cellset.h"
#include "../ipc/copycost.h"
#include "../kernel/dispatch.h"
#include "costs.h"
#include "delay.h"

/* Costs in copies of a page: of a program, a thread, a VCPU, a page with its table entry */
#define OF_PROGRAM	60
#define OF_THREAD	12
#define OF_VCPU		12
#define OF_PAGE		4
#define MAPPED_PAGES	8		/* so many pages of a channel cost as much as a copy */
#define SCALE		256		/* a factor of 1 */

static uint64_t copy;			/* cycles */
static uint64_t scale[MIG_SIDES] = { SCALE, SCALE };

void mig_costs_start(void)
{
	struct copycost cost;

	copy = copycost_measure(&cost) ? cost.uncached : 0;
}

uint64_t mig_used(void)
{
	bool irqs = irq_save();
	uint64_t used = dispatch_used(thread_current());

	irq_restore(irqs);
	return used;
}

static uint64_t unscaled(const struct mig_size *size)
{
	return copy * (OF_PROGRAM + OF_THREAD * (uint64_t)size->threads +
		       OF_VCPU * (uint64_t)size->vcpus + OF_PAGE * (uint64_t)size->pages +
		       size->shared / MAPPED_PAGES);
}

uint64_t mig_cost(enum mig_side side, const struct mig_size *size)
{
	return unscaled(size) * scale[side] / SCALE + (side == MIG_UNPACKING ? mig_delay() : 0);
}

void mig_cost_learn(enum mig_side side, const struct mig_size *size, uint64_t used)
{
	uint64_t base = unscaled(size), own = used - (side == MIG_UNPACKING ? mig_delay() : 0);
	uint64_t factor = base ? own * SCALE / base + 1 : SCALE;

	if (factor > scale[side])
		scale[side] = factor;
}

uint64_t mig_wait(struct admission_entry set[SCHED_VCPUS], uint64_t demand, bool ready)
{
	struct bounds_end end;

	cellset_end(&end, set, thread_current()->own_vcpu);
	if (ready && demand <= set[end.me].budget)
		return admission_response_to(set, end.n, end.me, demand ? demand : 1);
	return bounds_wait(BOUNDS_RESPONSE, &end, demand);
}
