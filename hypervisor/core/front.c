// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux touches memory that is not, or not yet, in its tables. What is its own
 * is mapped. A touch of anything else is answered: reads give ones, writes go
 * nowhere; counted and logged once per 2 MiB and kind.
 */
#include "cpu.h"
#include "nested.h"
#include "vendor.h"

static bool in_ones_table(const u64 *entry)
{
	const u64 *table = pool_table(&me()->pool, me()->ones_table);

	return entry >= table && entry < table + 512;
}

static bool is_ones(u64 entry)
{
	return entry == *pool_table(&me()->pool, me()->ones_table);
}

void front_touch(struct pcpu *cpu, u64 gpa, bool write)
{
	struct instance *inst = me();
	u32 level;
	u64 *entry, answer;

	if (!front_fill(&inst->nested, gpa) &&
	    front_owner(&inst->nested, gpa, 1) == FRONT_OWNS)
		return;
	cpu_status(cpu)->denied++;
	log_event(cpu, write ? QV_LOG_TOUCH_WRITE : QV_LOG_TOUCH_READ, gpa, 0);
	entry = paging_find(&inst->nested, gpa, 1, &level);
	answer = *pool_table(&inst->pool, write ? inst->sink_table : inst->ones_table);
	if (level == 2 && (*entry & NESTED_HOLE))
		*entry = (write ? inst->sink_table : inst->ones_table) | PT_TABLE;
	else if (level == 1 && in_ones_table(entry))
		*paging_find(&inst->nested, gpa, 2, &level) = inst->sink_table | PT_TABLE;
	else if (level == 1 && ((*entry & NESTED_HOLE) || is_ones(*entry)))
		*entry = answer;		/* beside an instance's open part */
	else
		vendor_inject_fault(cpu, 13);	/* a write to the open part; or no pages left */
	cpu->flush = true;
}
