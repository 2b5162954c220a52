// SPDX-License-Identifier: GPL-2.0-only
/* Doorbells and samples: Linux may ask a running cell for them at a limited rate. */
#include "core/apic.h"
#include "manage.h"

/* The monitor has no timer and keeps no pending doorbell: Linux rings again after QV_ME_RATE */
u64 call_doorbell(struct pcpu *cpu, u64 id, u64 unused)
{
	struct cell_slot *slot = &me()->manager.cells[id];
	const struct qv_mon_create *q = slot_request(id);

	if (slot->state != QV_MON_RUNNING || !q->doorbell_vector)
		return QV_ME_STATE;
	if (bell_turn(&slot->bell_next, q->bell_rate, false))
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
	if (load(&pcpu_in(QV_VA_MANAGE, index)->cmd) & CMD_SAMPLE ||
	    bell_turn(&slot->bell_next, q->bell_rate, false))
		return QV_ME_RATE;
	kick(pcpu_in(QV_VA_MANAGE, index), CMD_SAMPLE);
	return QV_ME_OK;
}
