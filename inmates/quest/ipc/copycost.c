// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../mm/pages.h"
#include "../mm/paging.h"
#include "../mm/space.h"
#include "copycost.h"

#define ROUNDS	16
/* A part of a page is copied, since interrupts are off: 64 stores, of 100 ns if not cached */
#define PART	512

/* Returns the cycles for a page. Interrupts are off. */
static uint64_t copy_once(uint64_t to, uint64_t from)
{
	uint64_t begin = rdtsc();

	memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, PART);
	return (rdtsc() - begin) * (PAGE_SIZE / PART);
}

/* The shortest of some copies has no exit or SMI in it. */
static uint64_t copy(const struct space *s, uint64_t to, uint64_t from)
{
	uint64_t least = UINT64_MAX, cycles;
	unsigned int i;
	bool irqs;

	for (i = 0; i < ROUNDS; i++) {
		irqs = irq_save();
		if (s)
			paging_switch(s->root);
		cycles = copy_once(to, from);
		if (s)
			paging_switch(paging_kernel_root());
		irq_restore(irqs);
		least = cycles < least ? cycles : least;
	}
	return least;
}

/* Another address space maps the page a second time, for the kernel only and not cached. */
static bool measure_uncached(struct copycost *c, uint64_t page)
{
	bool irqs = irq_save(), mapped;
	struct space s;

	mapped = space_create(&s) &&
		 space_map_foreign(&s, USER_SHARED, page, 1,
				   PTE_WRITE | PTE_NO_EXECUTE | PTE_UNCACHED);
	irq_restore(irqs);
	if (mapped)
		c->uncached = copy(&s, USER_SHARED, page + PAGE_SIZE);
	irqs = irq_save();
	space_destroy(&s);
	irq_restore(irqs);
	return mapped;
}

bool copycost_measure(struct copycost *c)
{
	bool irqs = irq_save(), measured;
	uint64_t pages = pages_alloc(2);

	irq_restore(irqs);
	if (!pages)
		return false;
	c->cached = copy(NULL, pages, pages + PAGE_SIZE);
	measured = measure_uncached(c, pages);
	irqs = irq_save();
	pages_free(pages, 2);
	irq_restore(irqs);
	return measured;
}
