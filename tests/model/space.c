// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include "space.h"
#include "unit.h"

void space_open(struct space *s, u32 pages, u32 levels, u32 max_leaf)
{
	s->memory = aligned_alloc(4096, pages * 4096ul);
	if (!s->memory)
		unit_give_up("no memory");
	memset(s->memory, 0xa5, pages * 4096ul);	/* the pool must clear its pages */
	s->pool = (struct pt_pool){
		.va = (u64)s->memory, .pa = SPACE_PA, .next = 0, .end = pages * 4096,
	};
	s->p = (struct paging){ .pt_pool = &s->pool, .levels = levels, .max_leaf = max_leaf };
	s->p.root = pt_take(&s->pool);
}

void space_close(struct space *s)
{
	free(s->memory);
}

u32 space_used(const struct space *s)
{
	return s->pool.next / 4096;
}

static u64 read_entry(const struct space *s, u64 table, u64 index)
{
	u64 entry;

	if (!CHECK(table >= s->pool.pa && table < s->pool.pa + s->pool.end))
		unit_give_up("a table outside the pool");
	memcpy(&entry, (u8 *)s->memory + (table - s->pool.pa) + index * 8, 8);
	return entry;
}

u64 space_walk(const struct space *s, u64 addr, u64 *flags, u32 *level)
{
	static const u32 shifts[] = { 0, 12, 21, 30, 39, 48 };
	u64 table = s->p.root;
	u32 at;

	for (at = s->p.levels; ; at--) {
		u64 e = read_entry(s, table, addr >> shifts[at] & 0x1ff);
		u64 offset = (1ull << shifts[at]) - 1;

		*level = at;
		if (!(e & 1))
			return NOT_MAPPED;
		if (at == 1 || (at <= 3 && (e & 1 << 7))) {
			u64 pa = e & 0x000ffffffffff000ull;

			CHECK_EQ(pa & offset, 0);
			CHECK_EQ(e & 1 << 7 ? at > 1 : at == 1, 1);
			if (flags)
				*flags = e & ~0x000ffffffffff000ull & ~(1ull << 7);
			return pa + (addr & offset);
		}
		/* this bit must be zero in tables above the 1 GiB level */
		CHECK_EQ(e & 1 << 7, 0);
		CHECK_EQ(e & 7, 7);	/* a table must allow everything that its leaves allow */
		CHECK_EQ(e >> 63, 0);
		table = e & 0x000ffffffffff000ull;
	}
}
