// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <string.h>
#include "../../../lib/linux/manage.h"
#include "../../quest/drivers/bell.h"
#include "../../quest/drivers/channel.h"
#include "../../quest/net/share.h"
#include "rings.h"
#include "unit.h"
#include "world.h"

#define RINGS		(2 * SHARE_MAX)
#define WINDOW		(64 * 1024)

static struct ring {
	_Alignas(4096) unsigned char window[WINDOW];
	struct qv_info_channel info;
	struct qv_end own, other;
} rings[RINGS];
static unsigned int num_rings;

static void attach(struct ring *r, struct qv_end *end, uint32_t self)
{
	memset(end, 0, sizeof(*end));
	CHECK(!qv_end_attach(end, r->window, sizeof(r->window), self));
}

unsigned int ring_make(const char *name, bool written, uint32_t full)
{
	struct qv_chan_page page = { .type = QV_CHAN_RING, .full = full, .ends = 2,
				     .flags = QV_CHAN_RECONNECT, .slots = RING_SLOTS,
				     .item = sizeof(struct share_item) };
	struct ring *r = &rings[num_rings];

	CHECK(num_rings < RINGS);
	strcpy(page.name, name);
	strcpy(page.end[0].name, "writer");
	strcpy(page.end[1].name, "reader");
	CHECK(!qv_chan_lay_out(&page));
	manage_make(r->window, &page, 7 << 8);
	manage_start(r->window, 0);
	manage_start(r->window, 1);
	r->info.end = written ? 0 : 1;
	r->info.type = page.type;
	strcpy(r->info.name, name);
	attach(r, &r->other, !r->info.end);
	return num_rings++;
}

struct qv_end *ring_other(unsigned int n)
{
	return &rings[n].other;
}

void ring_die(unsigned int n)
{
	manage_state(rings[n].window, !rings[n].info.end, QV_CHAN_IS_FAILED);
}

void ring_restart(unsigned int n)
{
	manage_start(rings[n].window, !rings[n].info.end);
	attach(&rings[n], &rings[n].other, !rings[n].info.end);
}

uint8_t *ring_section(unsigned int n, size_t *length)
{
	const struct qv_chan_page *page = (const struct qv_chan_page *)rings[n].window;
	uint32_t other = !rings[n].info.end;

	*length = page->end[other].size;
	return rings[n].window + page->end[other].offset;
}

/* ---- drivers/channel.h and bell.h ---- */

const struct qv_info_channel *channel_nth(unsigned int n)
{
	return n < num_rings ? &rings[n].info : NULL;
}

const struct qv_info_channel *channel_at(unsigned int n)
{
	return channel_nth(n);
}

int channel_find(const char *name)
{
	unsigned int n;

	for (n = 0; n < num_rings; n++)
		if (!strcmp(rings[n].info.name, name))
			return (int)n;
	return -1;
}

int channel_open(unsigned int n, struct qv_end **end)
{
	attach(&rings[n], &rings[n].own, rings[n].info.end);
	*end = &rings[n].own;
	return QV_CHAN_DONE;
}

void channel_close(unsigned int n)
{
	(void)n;
}

struct qv_end *channel_end(unsigned int n)
{
	return &rings[n].own;
}

uint64_t channel_try_ring(unsigned int n)
{
	(void)n;
	return 0;
}

void bell_set_hook(unsigned int n, void (*hook)(void))
{
	(void)n;
	(void)hook;
}
