// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux touches memory that is not, or not yet, in its tables. Memory of Linux is mapped. A touch
 * of anything else is answered, counted and logged (law 4). Reads give ones. A write maps a dummy
 * page in its 2 MiB, and later reads there see the dummy page. Several CPUs may be here at once,
 * and the manager may give the page back meanwhile. So every change is a compare-and-exchange with
 * the value seen. If it fails, the CPU returns to Linux, faults again and looks again.
 */
#include "front.h"
#include "tables/nested.h"

static bool in_ones_table(const u64 *entry)
{
	const u64 *table = pt_table(&me()->pt_pool, me()->front.ones_table);

	return entry >= table && entry < table + PT_ENTRIES;
}

static bool same_page(u64 a, u64 b)
{
	return (a & PT_ADDR) == (b & PT_ADDR);
}

/* Changes the entry so that it answers the touch. Returns false if only a fault can answer it */
static bool touch_answer(u64 gpa, u64 *entry, u64 seen, u32 level, bool write)
{
	struct instance *inst = me();
	u64 table = write ? inst->front.sink_table : inst->front.ones_table;
	u64 ones = *pt_table(&inst->pt_pool, inst->front.ones_table);

	if (level == 2 && (seen & NESTED_HOLE)) {
		entry_exchange(entry, seen, table | PT_TABLE);
	} else if (level == 1 && in_ones_table(entry)) {
		u64 *above = paging_find(&inst->nested, gpa, 2, &level);

		seen = *above;
		if (level == 2 && same_page(seen, inst->front.ones_table))
			entry_exchange(above, seen, inst->front.sink_table | PT_TABLE);
	} else if (level == 1 && ((seen & NESTED_HOLE) || same_page(seen, ones))) {
		/* memory in the same 2 MiB as an open part */
		entry_exchange(entry, seen, *pt_table(&inst->pt_pool, table));
	} else {
		/* a write by Linux to an open part of a block */
		return false;
	}
	return true;
}

void front_touch(struct pcpu *cpu, u64 gpa, bool write)
{
	struct instance *inst = me();
	u32 level;
	u64 *entry = paging_find(&inst->nested, gpa, 1, &level);
	u64 seen = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
	bool reached = front_reaches(&inst->nested, gpa);

	cpu->flush = true;		/* flush in every case, so that no old translation stays */
	if (reached && (seen & PT_P) && (!write || (seen & PT_W)))
		/* the entry permits the touch by now: another CPU has changed it */
		return;
	if (reached && !(seen & (PT_P | NESTED_HOLE)) && !front_fill(&inst->nested, gpa))
		return;
	log_denied(cpu, write ? QV_LOG_TOUCH_WRITE : QV_LOG_TOUCH_READ, gpa, 0);
	if (!reached || !touch_answer(gpa, entry, seen, level, write))
		vendor_inject_fault(cpu, 13);
}
