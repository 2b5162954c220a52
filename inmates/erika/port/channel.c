// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The boot tables of the library map the first 4 GiB one to one and write-back, so a channel is at
 * the address that the info page says. Functions for applications are weak, as they are no names of
 * OSEK.
 */
#include <inmate/cell.h>
#include <inmate/string.h>
#include "../kernel/kernel.h"
#include "erika/channel.h"
#include "x86.h"

#define LAST_SLOT	15		/* the kernel has the last vector of each class */

static unsigned int num_channels(void)
{
	uint32_t n = cell_present() ? cell_info()->num_channels : 0;

	return n < QV_INFO_MAX_CHANNELS ? n : QV_INFO_MAX_CHANNELS;
}

static const struct qv_info_channel *find(const char *name)
{
	const struct qv_info_channel *channels = cell_info()->channels;
	unsigned int n;

	for (n = 0; n < num_channels(); n++)
		if (!strcmp(channels[n].name, name))
			return &channels[n];
	return NULL;
}

const char *bell_route(const struct os_isr_conf *isr, uint8_t *vector)
{
	const struct qv_info_channel *c = find(isr->channel);
	const struct qv_info_bell *bell;

	if (!c)
		return "the cell has no channel of this name";
	bell = &cell_info()->bells[c - cell_info()->channels];
	if (!bell->vector)
		return "the channel has no `bell: true` in the cell's file";
	if (bell->cpu)
		return "its bell is not for the first CPU of the cell";
	if (bell->vector >> 4 != OS_BELL_CLASS || (bell->vector & 15) == LAST_SLOT ||
	    bell->vector == cell_info()->doorbell_vector)
		return "the vector of its bell is not 32 or one of 34 to 46";
	*vector = (uint8_t)bell->vector;
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

__attribute__((weak)) void channel_ring(ChannelType *channel)
{
	const struct qv_info *info = cell_info();
	unsigned int n;

	if (!channel->window || !qv_end_rings(channel))
		return;
	for (n = 0; n < num_channels(); n++)
		if (info->channels[n].address == (uintptr_t)channel->window &&
		    info->bells[n].vector)
			cell_ring(n);
	if (key_window(channel) >= 0)
		cell_ring((unsigned int)key_window(channel));
}

__attribute__((weak)) int channel_read(ChannelType *channel, void *to, uint64_t size)
{
	struct qv_item item;
	int result = channel->window ? qv_end_read(channel, to, size, &item) : QV_CHAN_USAGE;

	if (!result && channel->page.type == QV_CHAN_RING)
		channel_ring(channel);		/* a writer may wait for room */
	return result ? result : (int)item.bytes;
}

__attribute__((weak)) int channel_write(ChannelType *channel, const void *from, uint64_t size)
{
	int result = channel->window ? qv_end_write(channel, from, size) : QV_CHAN_USAGE;

	if (!result)
		channel_ring(channel);
	return result;
}

/*
 * Returns true if an item may come yet. After a restart it does, unless the connection has ended,
 * or this is the first end of a mailbox: its question is gone, so the other end has none to answer.
 */
static bool may_come(const ChannelType *channel, int result)
{
	bool asks = channel->page.type == QV_CHAN_MAILBOX && !channel->self;

	return result == QV_CHAN_NOTHING || result == QV_CHAN_ABSENT ||
	       (result == QV_CHAN_RESTARTED && !channel->ended && !asks);
}

/*
 * The look before WaitEvent() is with an armed bell. If that rings between the look and
 * WaitEvent(), it has set the event, so that does not wait.
 */
__attribute__((weak)) int channel_wait(ChannelType *channel, EventMaskType bell, void *to,
				       uint64_t size)
{
	int result;

	while (may_come(channel, result = channel_read(channel, to, size))) {
		qv_end_arm(channel, true);
		result = channel_read(channel, to, size);
		if (!may_come(channel, result))
			break;
		if (WaitEvent(bell) != E_OK || ClearEvent(bell) != E_OK)
			return QV_CHAN_USAGE;
	}
	return result;
}
