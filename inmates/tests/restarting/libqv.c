// SPDX-License-Identifier: GPL-2.0-only
/* libqv, which Python uses, too. */
#include <qv/libqv.h>
#include "restarting.h"

#define LIMIT_MS	20

static struct qv_channel *channel;
static unsigned char item[RESTARTING_ITEM];

static bool open_end(const char *path, void *window, const struct qv_chan_page *plan, uint32_t end)
{
	(void)window;
	(void)plan;
	return !qv_file_open(&channel, path, end);
}

static void close_end(void)
{
	qv_close(channel);
}

static bool write_item(void)
{
	return !qv_write(channel, item, sizeof(item), 0);
}

static bool read_item(void)
{
	return !qv_read(channel, item, sizeof(item), NULL, 0);
}

static enum restarting wait_for(bool for_room)
{
	int result = for_room ? qv_write(channel, item, sizeof(item), LIMIT_MS) :
				qv_read(channel, item, sizeof(item), NULL, LIMIT_MS);

	return result == QV_LIB_TIMEOUT ? RESTARTING_WAITS :
	       result == QV_CHAN_RESTARTED ? RESTARTING_RESTARTED : RESTARTING_OTHER;
}

const struct restarting_library restarting_libqv = {
	"libqv", open_end, close_end, write_item, read_item, wait_for,
};
