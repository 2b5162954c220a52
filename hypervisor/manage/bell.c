// SPDX-License-Identifier: GPL-2.0-only
/* Doorbells and samples: Linux may ask a running cell for them at a limited rate. */
#include "abi/errors.h"
#include "core/apic.h"
#include "manage.h"

/*
 * Each doorbell interrupts the cell, so their rate is limited. The monitor has no timer and keeps
 * no pending doorbell: Linux has to ring again after QV_ME_RATE.
 */
bool bell_too_soon(const struct cell_slot *slot, u64 now)
{
	/* The difference is signed, since the TSC of the last caller may be ahead */
	return (s64)(now - slot->bell_tsc) < (s64)slot->bell_gap;
}

static bool too_soon(struct cell_slot *slot)
{
	u64 now = rdtsc();

	if (bell_too_soon(slot, now))
		return true;
	slot->bell_tsc = now;
	return false;
}

u64 call_doorbell(struct pcpu *cpu, u64 id, u64 unused)
{
	struct cell_slot *slot = &me()->manager.cells[id];
	const struct qv_mon_create *q = slot_request(id);

	if (slot->state != QV_MON_RUNNING || !q->doorbell_vector)
		return QV_ME_STATE;
	if (too_soon(slot))
		return QV_ME_RATE;
	apic_send(1 << 14 | q->doorbell_vector, pcpu_of(q->cpus[0])->apic_id);
	return QV_ME_OK;
}

/* Does not wait for the CPU. The CPU increments qv_mon_status.samples when it is done */
u64 call_sample(struct pcpu *cpu, u64 id, u64 index)
{
	struct cell_slot *slot = &me()->manager.cells[id];
	const struct qv_mon_create *q = slot_request(id);

	if (!q->debug)
		return QV_ME_NO_DEBUG;
	if (slot->state != QV_MON_RUNNING || load(&managed_status()->state) != QV_MON_RUNNING)
		return QV_ME_STATE;
	if (index >= q->num_cpus)
		return QV_ME_CPUS;
	/* A second NMI for a sample under way would be taken for the guest's own next NMI */
	if (load(&pcpu_in(QV_VA_MANAGE, index)->cmd) & CMD_SAMPLE || too_soon(slot))
		return QV_ME_RATE;
	kick(pcpu_in(QV_VA_MANAGE, index), CMD_SAMPLE);
	return QV_ME_OK;
}
