// SPDX-License-Identifier: GPL-2.0-only
#include "choices.h"
#include "unit.h"

u64 choose(struct choices *c, u64 n)
{
	u32 want = n <= 1u << 8 ? 1 : n <= 1u << 16 ? 2 : n <= 1ull << 32 ? 4 : 8;
	u64 v = 0;

	if (!c->data)
		return rnd_below(n);
	for (; want && c->len; want--, c->len--)
		v = v << 8 | *c->data++;
	return v % n;
}

bool choices_left(const struct choices *c)
{
	return !c->data || c->len;
}
