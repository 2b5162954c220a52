// SPDX-License-Identifier: GPL-2.0-only
/* parts/channel_memory.c: the pages of channels, which no other channel uses. */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "core/cpu.h"
#include "manage/manage.h"
#include "tables/nested.h"
#include "channels_world.h"
#include "fake.h"
#include "request_model.h"
#include "tables.h"
#include "unit.h"
#include "world.h"

/* A channel of more than 2 MiB is cleared by several calls. No cell joins meanwhile */
static void long_channel(void)
{
	static struct qv_mon_create q;
	u64 at, pieces = 0, section = 5u << 20;
	const struct paging *nested;
	struct world w;
	u32 page;

	world_open(&w);
	channels_request(&q, 0, "linux");
	channels_long(&q.channels[0]);
	CHECK_EQ(world_create(&w, &q), 1);
	nested = &fake_instance(q.block_pa)->nested;
	for (at = 0; at < q.channels[0].page.length; at += QV_PAGE) {
		struct leaf l = tables_walk(nested, QV_CHANNEL_GPA + at);

		CHECK(l.present && l.pa == qv_mon_channel_at(&q.channels[0], at) && !l.execute);
		CHECK_EQ(l.write, at >= QV_PAGE && at < QV_PAGE + section);
	}
	CHECK_EQ(world_call(QV_HC_START, 1), 0);
	for (at = 0; at < q.channels[0].page.length; at += QV_PAGE) {
		struct leaf l = tables_walk(&me()->nested, qv_mon_channel_at(&q.channels[0], at));

		CHECK(l.present && l.pa == qv_mon_channel_at(&q.channels[0], at));
		CHECK_EQ(l.write, at > section);
		CHECK(front_owner(&me()->nested, l.pa & -(u64)QV_HUGE, 2) != FRONT_OWNS);
	}
	for (page = 0; page < 3; page++)
		memset(fake_ram + q.channels[0].pa[page], 0x77, QV_HUGE);
	CHECK_EQ(world_call(QV_HC_STOP, 1), 0);
	channels_destroy(&w, 1);
	CHECK_EQ(world_create(&w, &q), 1);
	while (world_call(QV_HC_CHANNEL, CHANNEL_PA) == 1) {
		CHECK_EQ(world_call(QV_HC_START, 1), QV_ME_CHANNEL_DIFFERS);
		pieces++;
	}
	CHECK_EQ(pieces, 2);
	for (at = 0; at < q.channels[0].page.length; at++)
		if (fake_ram[qv_mon_channel_at(&q.channels[0], at)])
			break;
	CHECK_EQ(at, q.channels[0].page.length);
	for (page = 0; page < 3; page++)
		CHECK(front_owner(&me()->nested, q.channels[0].pa[page], 2) == FRONT_OWNS);
	CHECK_EQ(world_call(QV_HC_START, 1), 0);
}

/* A cell with 16 channels of its own, or 8 of 2 MiB and a page each */
static void many_request(struct qv_mon_create *q, u32 n, u32 num)
{
	u32 i;

	channels_request(q, 0, "linux");
	q->block_pa += n * 10 * (u64)QV_HUGE;
	q->runs[0].pa += n * 10 * (u64)QV_HUGE;
	q->console_pa += n * 0x10000;
	q->cpus[0] = 1 + n;
	q->num_channels = num;
	for (i = 0; i < num; i++) {
		q->channels[i] = q->channels[0];
		q->channels[i].pa[0] = (70 + 16 * n + i) * (u64)QV_HUGE;
	}
}

/* All channels together have at most 32 pages. Each has one at least, so no other limit is met */
static void all_pages_taken(void)
{
	static struct qv_mon_create q[3];
	struct world w;
	u32 n, i, pool = 0;

	world_open(&w);
	for (n = 0; n < 3; n++) {
		many_request(&q[n], n, 16);
		CHECK_EQ(world_create(&w, &q[n]), n + 1);
		CHECK_EQ(world_call(QV_HC_START, n + 1), n < 2 ? 0 : QV_ME_CHANNEL_SLOTS);
	}
	for (i = 0; i < 16; i++)
		CHECK_EQ(front_owner(&me()->nested, q[2].channels[i].pa[0], 2), FRONT_OWNS);
	/* a channel of two pages has no room after 31 of one page */
	channels_destroy(&w, 3);
	CHECK_EQ(world_call(QV_HC_STOP, 2), 0);
	channels_destroy(&w, 2);
	for (i = 0; i < 16; i++)
		CHECK_EQ(world_call(QV_HC_CHANNEL, q[1].channels[i].pa[0]), 0);
	pool = me()->pt_pool.next;
	for (n = 14; n < 16; n++) {
		many_request(&q[1], 1, n);
		q[1].channels[0].page.length = QV_HUGE + QV_PAGE;
		q[1].channels[0].pa[1] = 110ull * QV_HUGE;
		q[1].channels[n] = q[1].channels[1];
		q[1].channels[n].pa[0] = 111ull * QV_HUGE;
		q[1].num_channels++;
		CHECK_EQ(world_create(&w, &q[1]), 2);
		CHECK_EQ(world_call(QV_HC_START, 2), n == 14 ? 0 : QV_ME_CHANNEL_SLOTS);
		if (n == 14)
			CHECK_EQ(world_call(QV_HC_STOP, 2), 0);
		channels_destroy(&w, 2);
		for (i = 0; i < q[1].num_channels; i++) {
			while (world_call(QV_HC_CHANNEL, q[1].channels[i].pa[0]) == 1)
				;
			CHECK_EQ(front_owner(&me()->nested, q[1].channels[i].pa[0], 2), FRONT_OWNS);
		}
	}
	CHECK_EQ(me()->pt_pool.next, pool);
}

/* A fault has ended a call between the record and Linux's tables: Linux still owns the memory */
static void record_without_users(void)
{
	static struct qv_mon_create q;
	struct world w;

	world_open(&w);
	channels_request(&q, 0, "linux");
	CHECK_EQ(world_create(&w, &q), 1);
	me()->manager.channels[3].is = q.channels[0];
	CHECK_EQ(world_call(QV_HC_START, 1), QV_ME_CHANNEL_DIFFERS);
	CHECK_EQ(front_owner(&me()->nested, CHANNEL_PA, 2), FRONT_OWNS);
	memset(&me()->manager.channels[3], 0, sizeof(struct channel));
	CHECK_EQ(world_call(QV_HC_START, 1), 0);
	CHECK(front_owner(&me()->nested, CHANNEL_PA, 2) != FRONT_OWNS);
}

UNIT_SUITE(channel_memory) = {
	{ "channel memory: one of more than 2 MiB", long_channel },
	{ "channel memory: all have 32 pages together", all_pages_taken },
	{ "channel memory: a record without users", record_without_users },
	{ 0 }
};
