// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/string.h>
#include "../mm/mm.h"
#include "../mm/table.h"
#include "channel.h"

static struct qv_end ends[QV_INFO_MAX_CHANNELS];
static bool attached[QV_INFO_MAX_CHANNELS];

const struct qv_info_channel *channel_nth(unsigned int n)
{
	const struct qv_info *info = cell_info();

	if (!cell_present() || n >= info->num_channels || n >= QV_INFO_MAX_CHANNELS)
		return NULL;
	return &info->channels[n];
}

static int attach(const struct qv_info_channel *c, unsigned int n)
{
	int result;

	if (attached[n])
		return QV_CHAN_DONE;
	if (!map_identity(c->address, c->address + c->length, PTE_WRITE | PTE_NO_EXECUTE))
		return QV_CHAN_USAGE;
	result = qv_end_attach(&ends[n], (void *)(uintptr_t)c->address, c->length, c->end);
	attached[n] = !result;
	return result;
}

int channel_open(const char *name, struct qv_end **end)
{
	const struct qv_info_channel *c;
	unsigned int n;

	for (n = 0; (c = channel_nth(n)); n++)
		if (!strcmp(c->name, name)) {
			*end = &ends[n];
			return attach(c, n);
		}
	return QV_CHAN_ABSENT;
}
