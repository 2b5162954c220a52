// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "../drivers/channel.h"
#include "memory.h"

const struct qv_end *memory_open(const char *name, bool writes, uint32_t ends, void **data,
				 uint64_t *bytes)
{
	int n = channel_find(name);
	struct qv_end *end;
	bool writable;

	if (n < 0 || channel_open((unsigned int)n, &end))
		return NULL;
	if (!qv_end_memory(end, data, bytes, &writable) && writable == writes &&
	    end->page.ends == ends)
		return end;
	channel_close((unsigned int)n);
	return NULL;
}

const uint64_t *memory_life(const struct qv_end *end)
{
	return &((const struct qv_chan_page *)end->window)->end[0].life;
}
