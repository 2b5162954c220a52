// SPDX-License-Identifier: GPL-2.0-only
/* The channels of the OSEK kernel, with a WaitEvent() that ends the wait. */
#include "../../erika/port/channel.c"
#include "restarting.h"

static struct qv_info info;
static ChannelType channel;
static unsigned char item[RESTARTING_ITEM];
static bool waited;

bool cell_present(void)
{
	return true;
}

const struct qv_info *cell_info(void)
{
	return &info;
}

void cell_ring(unsigned int n)
{
	(void)n;
}

int key_window(const ChannelType *of)
{
	(void)of;
	return -1;
}

StatusType WaitEvent(EventMaskType mask)
{
	(void)mask;
	waited = true;
	return E_OS_ACCESS;
}

StatusType ClearEvent(EventMaskType mask)
{
	(void)mask;
	return E_OK;
}

static bool open_end(const char *path, void *window, const struct qv_chan_page *plan, uint32_t end)
{
	(void)path;
	info.num_channels = 1;
	info.channels[0] = (struct qv_info_channel){
		.name = "questions", .address = (uintptr_t)window, .length = plan->length,
		.end = end,
	};
	return !channel_open(&channel, "questions");
}

static void close_end(void)
{
}

static bool write_item(void)
{
	return !channel_write(&channel, item, sizeof(item));
}

static bool read_item(void)
{
	return channel_read(&channel, item, sizeof(item)) >= 0;
}

static enum restarting wait(bool for_room)
{
	int result;

	(void)for_room;
	waited = false;
	result = channel_wait(&channel, 1, item, sizeof(item));
	return waited ? RESTARTING_WAITS :
	       result == QV_CHAN_RESTARTED ? RESTARTING_RESTARTED : RESTARTING_OTHER;
}

const struct restarting_library restarting_osek = {
	"OSEK", open_end, close_end, write_item, read_item, wait,
};
