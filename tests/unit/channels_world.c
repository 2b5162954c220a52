// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "abi/calls.h"
#include "core/cpu.h"
#include "channels_world.h"
#include "unit.h"

void channels_describe(struct qv_mon_channel *c, u32 end, const char *one, const char *other)
{
	memset(c, 0, sizeof(*c));
	c->pa[0] = CHANNEL_PA;
	c->end = end;
	c->page.magic = QV_CHAN_MAGIC;
	c->page.type = QV_CHAN_RING;
	c->page.flags = QV_CHAN_RECONNECT;
	c->page.ends = 2;
	c->page.length = SECTIONS * QV_PAGE;
	c->page.end[0] = (struct qv_chan_end){ .offset = QV_PAGE, .size = QV_PAGE };
	c->page.end[1] = (struct qv_chan_end){ .offset = 2 * QV_PAGE, .size = QV_PAGE };
	strcpy(c->page.end[0].name, one);
	strcpy(c->page.end[1].name, other);
}

void channels_request(struct qv_mon_create *q, u32 n, const char *other)
{
	memset(q, 0, sizeof(*q));
	strcpy((char *)q->name, n ? "b" : "a");
	q->block_pa = (40 + 10 * n) * (u64)QV_HUGE;
	q->console_pa = 0x480000 + n * 0x10000;
	q->num_cpus = 1;
	q->cpus[0] = 1 + n;
	q->num_runs = 1;
	q->runs[0] = (struct qv_mon_run){ (42 + 10 * n) * (u64)QV_HUGE, 2 };
	q->bell_rate = 10;
	q->num_channels = 1;
	channels_describe(&q->channels[0], n, n ? other : "a", n ? "b" : other);
}

void channels_long(struct qv_mon_channel *c)
{
	u64 section = 5u << 20;

	c->pa[0] = 70ull * QV_HUGE;
	c->pa[1] = 76ull * QV_HUGE;
	c->pa[2] = 74ull * QV_HUGE;
	c->page.length = section + 2 * QV_PAGE;
	c->page.end[0].size = section;
	c->page.end[1].offset = section + QV_PAGE;
}

void channels_destroy(struct world *w, u32 id)
{
	while (world_call(QV_HC_RECLAIM, id) == 1)
		;
	CHECK_EQ(me()->manager.cells[id].state, QV_MON_NONE);
	w->state[id] = QV_MON_NONE;
}
