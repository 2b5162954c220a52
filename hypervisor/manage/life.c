// SPDX-License-Identifier: GPL-2.0-only
/* Start, stop, and destroy of a cell. Its block is open in QV_VA_MANAGE. */
#include "manage.h"
#include "part.h"

u64 call_start(struct pcpu *cpu, u64 id, u64 unused)
{
	struct cell_slot *slot = &me()->manager.cells[id];
	const struct qv_mon_create *q = slot_request(id);
	u64 error;

	if (slot->state != QV_MON_CREATED)
		return QV_ME_STATE;
	error = parts_try(PART_STILL_OURS, cpu, me(), q);
	if (error)
		return error;
	slot->taken = 1;
	parts_act(PART_TAKE, cpu, slot, q);
	if (!flush_front_end(cpu))
		error = QV_ME_CPU_STUCK;
	else
		error = parts_try(PART_STILL_THERE, cpu, me(), q);
	if (error) {
		slot->taken = 0;
		parts_act(PART_UNTAKE, cpu, slot, q);
		flush_front_end(cpu);
		return error;
	}

	/* ---- from here all parts are the cell's ---- */
	slot->state = QV_MON_RUNNING;
	parts_act(PART_BEGIN, cpu, slot, q);
	managed_status()->locked = q->lock == QV_LOCK_START;
	log_event(cpu, QV_LOG_STARTED, id, 0);
	return cpus_send(q) ? QV_ME_OK : QV_ME_CPU_STUCK;
}

/* If a CPU does not answer, the others stop nevertheless; call_reclaim() tries that CPU again */
u64 call_stop(struct pcpu *cpu, u64 id, u64 unused)
{
	struct cell_slot *slot = &me()->manager.cells[id];
	const struct qv_mon_create *q = slot_request(id);

	if (slot->state != QV_MON_RUNNING)
		return QV_ME_STATE;
	slot->lost = !cpus_stop(cpu, q);
	slot->state = QV_MON_STOPPED;
	parts_act(PART_STOP, cpu, slot, q);
	/* a failed cell stays failed */
	atomic_replace(&managed_status()->state, QV_MON_RUNNING, QV_MON_STOPPED);
	log_event(cpu, QV_LOG_STOPPED, id, 0);
	return slot->lost ? QV_ME_CPU_LOST : QV_ME_OK;
}

/* ---- destroy, in small pieces, so that no call holds its CPU for long ---- */

/* Gives back CPUs that returned. A CPU that did not answer may still reach the cell's memory */
static void release_returned(struct cell_slot *slot)
{
	u64 returned = slot->cpus & ~me()->manager.away;

	slot->cpus &= ~returned;
	cpus_release(returned);
}

/*
 * The last piece: block and CPUs. The flush comes first; nothing after it can fail. Once the block
 * is given up, it is not read again. The flush also covers the memory given back before: a CPU that
 * touched it while it was hidden may have cached a translation to the dummy page. A CPU that does
 * not answer the flush is no danger: it has no translation to hidden memory, and drops its other
 * translations before it executes Linux again.
 */
static void give_block(struct pcpu *cpu, struct cell_slot *slot)
{
	/* the part of the block after the open part: drops the dummy pages there */
	linux_memory(slot->block_pa + QV_OPEN_LEN, QV_BLOCK_CELL - QV_OPEN_LEN, LINUX_NONE);
	flush_front_end(cpu);
	mapping_set(QV_VA_MANAGE, 0);
	scrub(slot->block_pa);
	linux_memory(slot->block_pa, QV_BLOCK_CELL, LINUX_ALL);
	slot->state = QV_MON_NONE;
	release_returned(slot);
}

u64 call_reclaim(struct pcpu *cpu, u64 id, u64 unused)
{
	struct cell_slot *slot = &me()->manager.cells[id];
	const struct qv_mon_create *q = slot_request(id);

	if (slot->state != QV_MON_CREATED && slot->state != QV_MON_STOPPED)
		return QV_ME_STATE;
	if (!cpus_return(cpu, slot, q)) {
		release_returned(slot);
		return QV_ME_CPU_LOST;
	}
	if (!iommu_settled(cpu, id))
		return QV_ME_IOMMU;
	if (slot->state == QV_MON_STOPPED) {
		if (parts_clear(cpu, slot, q))
			return 1;
		slot->taken = 0;
		parts_act(PART_GIVE, cpu, slot, q);
	}
	give_block(cpu, slot);
	log_event(cpu, QV_LOG_RECLAIMED, id, 0);
	return QV_ME_OK;
}
