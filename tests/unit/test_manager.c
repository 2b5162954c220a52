// SPDX-License-Identifier: GPL-2.0-only
/*
 * manage/create.c, life.c: create and destroy cells. After each call each resource has the right
 * owner.
 */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "abi/mark.h"
#include "manage/manage.h"
#include "fake_vendor.h"
#include "request_model.h"
#include "unit.h"
#include "world.h"

#define M2	(u64)QV_HUGE

static void lives(void)
{
	static struct qv_mon_create q;
	static struct world w;
	u32 life, step, pool = 0;

	world_open(&w);
	world_check(&w);
	world_simple_request(&q);
	for (life = 0; life < 20; life++) {
		u64 id;

		q.debug = life % 2;
		id = world_create(&w, &q);
		unit_case("life %u:", life);
		CHECK_EQ(id, 1);
		world_check(&w);
		CHECK_EQ(world_stop(&w, id), QV_ME_STATE);
		CHECK_EQ(world_start(&w, id), QV_ME_OK);
		world_check(&w);
		CHECK_EQ(world_start(&w, id), QV_ME_STATE);
		CHECK_EQ(world_reclaim(&w, id), QV_ME_STATE);	/* the cell has started and runs */
		CHECK_EQ(world_call(QV_HC_LEAVE, 0), QV_ME_STATE);
		CHECK_EQ(world_call(QV_HC_DOORBELL, id), QV_ME_OK);
		CHECK_EQ(fake_wrmsr_value, 0x600004020ull);
		CHECK_EQ(world_stop(&w, id), QV_ME_OK);
		CHECK_EQ(world_call(QV_HC_DOORBELL, id), QV_ME_STATE);
		world_check(&w);
		for (step = 0; step < 5; step++) {
			CHECK_EQ(world_reclaim(&w, id), 1);
			world_check(&w);
		}
		CHECK_EQ(world_reclaim(&w, id), 0);
		world_check(&w);
		CHECK_EQ(world_reclaim(&w, id), QV_ME_INSTANCE);
		if (life)
			CHECK_EQ(me()->pt_pool.next, pool);	/* no leak */
		pool = me()->pt_pool.next;
	}
	CHECK_EQ(world_call(QV_HC_LEAVE, 0), QV_ME_OK);
	/* after the call QV_HC_LEAVE no cell can be created */
	CHECK_EQ(world_create(&w, &q), QV_ME_STATE);
}

static void one_life(void)
{
	for (fake_ept = 0; fake_ept < 2; fake_ept++)
		for (fake_levels = 4; fake_levels <= 5; fake_levels++)
			lives();
}

static void all_slots(void)
{
	static struct qv_mon_create q;
	static struct world w;
	u32 i;

	world_open(&w);
	for (i = 1; i <= FAKE_CPUS - 1; i++) {
		world_simple_request(&q);
		q.block_pa = (40 + i) * M2;
		q.console_pa += i * 8 * QV_PAGE;
		q.num_cpus = 1;
		q.cpus[0] = i;
		q.num_runs = 1;
		/* all cells get the same memory, so only one of them may start */
		q.runs[0] = (struct qv_mon_run){ 60 * M2, 2 };
		CHECK_EQ(world_create(&w, &q), i);
		world_check(&w);
	}
	CHECK_EQ(world_start(&w, 2), QV_ME_OK);
	world_check(&w);
	CHECK_EQ(world_start(&w, 1), QV_ME_MEMORY);
	world_check(&w);
	/* cell 1 never ran, so its memory is now that of cell 2 */
	CHECK_EQ(world_reclaim(&w, 1), 0);
	world_check(&w);
	for (i = 4; i < QV_INSTANCES; i++) {
		me()->manager.cells[i].state = QV_MON_STOPPED;
		me()->manager.cells[i].q = me()->manager.cells[2].q;
	}
	world_simple_request(&q);
	q.num_cpus = 1;
	CHECK_EQ(world_create(&w, &q), QV_ME_CPU_TAKEN);
	q.cpus[0] = 1;
	q.console_pa = 0x1c0000;
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(world_create(&w, &q), QV_ME_SLOTS);
}

/* A Linux that boots later finds the log by this mark. */
static void marks(void)
{
	static struct qv_mon_create q;
	static struct world w;
	struct qv_mon_mark *mine, *there;

	world_open(&w);
	mine = (void *)(fake_ram + FAKE_BLOCK + QV_OFF_MARK);
	world_simple_request(&q);
	*mine = (struct qv_mon_mark){
		.magic = QV_MARK_MAGIC, .block_pa = FAKE_BLOCK,
		.session = 77, .tsc = 5, .tsc_khz = 9
	};
	memcpy(q.name, "quest", 6);
	CHECK_EQ(world_create(&w, &q), 1);
	there = (void *)(fake_ram + q.block_pa + QV_OFF_MARK);
	CHECK_EQ(there->sum, qv_mark_sum(there));
	CHECK_EQ(there->block_pa, q.block_pa);
	CHECK_EQ(there->id, 1);
	CHECK_EQ(there->session, 77);
	CHECK_EQ(there->tsc, 5);
	CHECK_TEXT((const char *)there->name, "quest");
	there->tsc++;
	CHECK(there->sum != qv_mark_sum(there));
}

static void random_lives(void)
{
	static struct world w;
	struct choices c = { 0 };
	u32 i, id, starts = 0;

	for (i = 0; i < 4000; i++) {
		if (i % 2000 == 0) {
			fake_ept = i > 0;
			world_open(&w);
		}
		world_step(&w, &c);
		for (id = 1; id < QV_INSTANCES; id++)
			starts += w.state[id] == QV_MON_RUNNING;
	}
	unit_case("after all:");
	CHECK(starts > 100);
}

UNIT_SUITE(manager) = {
	{ "manager: a cell lives twenty times without a leak", one_life },
	{ "manager: slots run out, memory has one owner", all_slots },
	{ "manager: a log has a valid mark", marks },
	{ "manager: random calls keep one owner per page", random_lives },
	{ 0 }
};
