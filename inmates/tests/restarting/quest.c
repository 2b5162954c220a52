// SPDX-License-Identifier: GPL-2.0-only
/* The channels of Quest's programs, with a kernel that ends each sleep. */
#include <channel.h>
#include "../../quest/user/lib/raw.h"
#include "restarting.h"

static struct quest_channel mapped;
static unsigned char item[RESTARTING_ITEM];
static bool waited;
static int channel;

int quest_channel_attach(const char *name, struct quest_channel *to)
{
	(void)name;
	*to = mapped;
	return 0;
}

int quest_channel_open_key(const struct quest_key *key, struct quest_channel *to)
{
	(void)key;
	(void)to;
	return -ENODEV;
}

int quest_channel_detach(int n)
{
	(void)n;
	return 0;
}

int quest_channel_sleep(int n, uint32_t seen, const struct timespec *until)
{
	(void)n;
	(void)seen;
	(void)until;
	waited = true;
	return -EINTR;
}

int quest_channel_ring(int n)
{
	(void)n;
	return 0;
}

int quest_clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	*t = (struct timespec){ 0 };
	return 0;
}

static bool open_end(const char *path, void *window, const struct qv_chan_page *plan, uint32_t end)
{
	(void)path;
	mapped = (struct quest_channel){ (uint64_t)window, plan->length, end };
	channel = channel_open("questions");
	return channel >= 0;
}

static void close_end(void)
{
	(void)channel_close(channel);
}

static bool write_item(void)
{
	return !channel_write(channel, item, sizeof(item));
}

static bool read_item(void)
{
	return channel_read(channel, item, sizeof(item)) >= 0;
}

static enum restarting wait_for(bool for_room)
{
	int result;

	waited = false;
	if (channel_wait(channel, -1))
		return waited ? RESTARTING_WAITS : RESTARTING_OTHER;
	result = for_room ? channel_write(channel, item, sizeof(item)) :
			    channel_read(channel, item, sizeof(item));
	return result == -ECONNRESET ? RESTARTING_RESTARTED : RESTARTING_OTHER;
}

const struct restarting_library restarting_quest = {
	"Quest", open_end, close_end, write_item, read_item, wait_for,
};
