// SPDX-License-Identifier: GPL-2.0-only
#include "../kernel/process/move.h"
#include "../kernel/process/process.h"
#include "../kernel/threadslot.h"
#include "../mm/arena.h"
#include "../mm/space.h"
#include "pack.h"
#include "room.h"

/* pages besides those of a program and its threads: tables and its image */
#define MORE_PAGES	48
/* tables that a page needs at most */
#define PAGE_TABLES	3u

bool mig_has_room(const struct mig_header *h)
{
	const uint64_t pages = h->pages + mig_size_of(h).shared;
	const uint64_t more = pages / TABLE_ENTRIES + h->num_threads * MOVE_THREAD_PAGES +
			      MORE_PAGES;
	unsigned int i, processes = 0;

	for (i = 0; i < PROCESS_MAX; i++)
		processes += !process_at((int)i);
	/* the arena has neither tables nor stacks */
	return processes > SHELL_PROCESSES &&
	       threadslots_free(SHELL_THREADS) >= h->num_threads &&
	       pages_unkept() >= more && pages_unkept() + arena_available() >= h->pages + more;
}

bool mig_has_page(uint64_t rights)
{
	/* code is not in the arena */
	bool in_arena = rights & PTE_NO_EXECUTE && arena_available();

	return pages_unkept() >= PAGE_TABLES + (in_arena ? 0 : 1);
}
