// SPDX-License-Identifier: GPL-2.0-only
/* Checks of pages that a request names: Linux must own them; no console page may be there. */
#include "tables/nested.h"
#include "request.h"

static bool in_ram(const struct qv_mon_boot *b, u64 pa, u64 len)
{
	u32 i;

	for (i = 0; i < b->num_ram && i < QV_MON_RAM_RANGES; i++)
		if (pa >= b->ram[i].start && pa < b->ram[i].end && len <= b->ram[i].end - pa)
			return true;
	return false;
}

bool request_pages_ok(const struct instance *inst, u64 pa, u64 len, u32 level)
{
	u64 size = level_size(level);

	if ((pa | len) & (size - 1) || !in_ram(&inst->boot, pa, len))
		return false;
	for (; len; pa += size, len -= size)
		if (front_owner(&inst->nested, pa, level) != FRONT_OWNS)
			return false;
	return true;
}

bool request_has_console(const struct instance *inst, u64 pa, u64 len)
{
	u32 i;

	for (i = 1; i < QV_INSTANCES; i++)
		if (inst->manager.cells[i].state &&
		    overlaps(pa, len, inst->manager.cells[i].console_pa, QV_CONSOLE_LEN))
			return true;
	return false;
}

bool request_takable(const struct instance *inst, u64 pa, u64 len)
{
	return request_pages_ok(inst, pa, len, 2) && !request_has_console(inst, pa, len);
}
