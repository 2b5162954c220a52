// SPDX-License-Identifier: GPL-2.0-only
/* Checks of pages that a request names: Linux must own them; no console page may be there. */
#include "request.h"

bool request_pages_ok(const struct instance *inst, u64 pa, u64 len, u32 level)
{
	return !((pa | len) & (level_size(level) - 1)) && ram_has(&inst->boot, pa, len, true) &&
	       front_owns(&inst->nested, pa, len);
}

bool request_has_console(const struct instance *inst, u64 pa, u64 len)
{
	u32 i;

	for (i = 1; i < QV_INSTANCES; i++)
		if (inst->manager.cells[i].state &&
		    overlaps(pa, len, inst->manager.cells[i].q->console_pa, QV_CONSOLE_LEN))
			return true;
	return false;
}

bool request_takable(const struct instance *inst, u64 pa, u64 len)
{
	return request_pages_ok(inst, pa, len, 2) && !request_has_console(inst, pa, len);
}
