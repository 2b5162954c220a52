// SPDX-License-Identifier: GPL-2.0-only
#include "core/cpu.h"
#include "manage.h"

/*
 * The cell's own instance writes .locked, and Linux can only read it. A cell whose instance
 * has failed, or has not begun, does not count: it can agree to nothing. A cell on standby that is
 * about to begin again does.
 */
bool cells_locked(void)
{
	bool locked = false;
	u32 i, state;

	for (i = 1; i < QV_INSTANCES && !locked; i++) {
		if (me()->manager.cells[i].state != QV_MON_RUNNING)
			continue;
		mapping_set(QV_VA_MANAGE, me()->manager.cells[i].block_pa);
		state = load(&managed_status()->state);
		locked = load(&managed_status()->locked) &&
			 (state == QV_MON_RUNNING || state == QV_MON_STOPPED);
	}
	mapping_set(QV_VA_MANAGE, 0);
	return locked;
}

u64 call_lock(struct pcpu *cpu, u64 id, u64 unused)
{
	/* A cell that does not run could never unlock */
	if (me()->manager.cells[id].state != QV_MON_RUNNING ||
	    load(&managed_status()->state) != QV_MON_RUNNING)
		return QV_ME_STATE;
	/* the cell's file does not permit a lock: the cell could not unlock */
	if (slot_request(id)->lock == QV_LOCK_NEVER)
		return QV_ME_MAY_NOT_LOCK;
	managed_status()->locked = 1;
	return QV_ME_OK;
}
