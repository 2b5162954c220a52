// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The description of a channel that two ends open at run time: the same bytes at both. */
#include "internal.h"

static void copy_name(char *to, const char *from)
{
	uint32_t i;

	for (i = 0; i < QV_CHAN_NAME_LEN - 1 && from[i]; i++)
		to[i] = from[i];
	for (; i < QV_CHAN_NAME_LEN; i++)
		to[i] = 0;
}

const char *qv_chan_describe_key(struct qv_chan_page *page, uint32_t key, const char *first,
				 const char *second)
{
	static const char digits[] = "0123456789abcdef";
	char name[] = "key-0000000000000000";
	uint32_t i;

	if (!key)
		return "a key is a number from 1 on";
	for (i = 0; i < 8; i++)
		name[sizeof(name) - 2 - i] = digits[key >> 4 * i & 15];
	copy_name(page->name, name);
	copy_name(page->end[0].name, first);
	copy_name(page->end[1].name, second);
	page->key = key;
	page->ends = 2;
	page->flags |= QV_CHAN_RECONNECT;
	return qv_chan_lay_out(page);
}
