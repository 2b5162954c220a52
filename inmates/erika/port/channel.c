// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The boot tables of the library map the first 4 GiB one to one and write-back, so a channel is at
 * the address that the info page says. The functions are weak, as they are no names of OSEK.
 */
#include <inmate/cell.h>
#include <inmate/string.h>
#include "erika/channel.h"

static const struct qv_info_channel *find(const char *name)
{
	const struct qv_info *info = cell_info();
	unsigned int n;

	for (n = 0; cell_present() && n < info->num_channels && n < QV_INFO_MAX_CHANNELS; n++)
		if (!strcmp(info->channels[n].name, name))
			return &info->channels[n];
	return NULL;
}

__attribute__((weak)) int channel_open(ChannelType *channel, const char *name)
{
	const struct qv_info_channel *c = find(name);

	if (!c) {
		memset(channel, 0, sizeof(*channel));
		return QV_CHAN_ABSENT;
	}
	return qv_end_attach(channel, (void *)(uintptr_t)c->address, c->length, c->end);
}

__attribute__((weak)) int channel_read(ChannelType *channel, void *to, uint64_t size)
{
	struct qv_item item;
	int result = channel->window ? qv_end_read(channel, to, size, &item) : QV_CHAN_USAGE;

	return result ? result : (int)item.bytes;
}

__attribute__((weak)) int channel_write(ChannelType *channel, const void *from, uint64_t size)
{
	return channel->window ? qv_end_write(channel, from, size) : QV_CHAN_USAGE;
}
