// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "abi/calls.h"
#include "manage/calls.h"
#include "tables/nested.h"
#include "keys_world.h"
#include "unit.h"

struct qv_mon_create keys_q[KEYS_CELLS];
struct world keys_w;

void keys_request(u32 n, u32 windows)
{
	static const char *const with[KEYS_CELLS][2] = {
		{ "b", "linux" }, { "a", "" }, { "a", "" },
	};
	u32 i;

	memset(&keys_q[n], 0, sizeof(keys_q[n]));
	((char *)keys_q[n].name)[0] = 'a' + n;
	keys_q[n].block_pa = (40 + 8 * n) * (u64)QV_HUGE;
	keys_q[n].console_pa = 0x480000 + n * 0x10000;
	keys_q[n].num_cpus = 1;
	keys_q[n].cpus[0] = 1 + n;
	keys_q[n].num_runs = 1;
	keys_q[n].runs[0] = (struct qv_mon_run){ keys_q[n].block_pa + QV_HUGE, 2 };
	keys_q[n].bell_rate = 10;
	keys_q[n].num_channels = keys_q[n].num_dynamic = windows;
	for (i = 0; i < windows; i++) {
		keys_q[n].channels[i].pa[0] = POOL_PA(n, i);
		keys_q[n].channels[i].page.length = QV_HUGE;
	}
	keys_q[n].num_with = n ? 1 : 2;
	for (i = 0; i < keys_q[n].num_with; i++)
		strcpy((char *)keys_q[n].with[i], with[n][i]);
}

/* All cells run; their ids are 1 to KEYS_CELLS */
void keys_world_open(u32 windows)
{
	u32 n;

	world_open(&keys_w);
	for (n = 0; n < KEYS_CELLS; n++) {
		keys_request(n, windows);
		CHECK_EQ(world_create(&keys_w, &keys_q[n]), n + 1);
		CHECK_EQ(world_call(QV_HC_START, n + 1), 0);
	}
}

struct instance *keys_cell(u32 n)
{
	return (struct instance *)fake_instance(keys_q[n].block_pa);
}

struct qv_chan_page *keys_life(u64 pa)
{
	return (struct qv_chan_page *)(fake_ram + pa);
}

void keys_describe(struct qv_mon_channel *c, u32 key, const char *first, const char *second,
		     u32 end)
{
	memset(c, 0, sizeof(*c));
	c->end = end;
	c->page.magic = QV_CHAN_MAGIC;
	c->page.type = QV_CHAN_RING;
	c->page.flags = QV_CHAN_RECONNECT;
	c->page.key = key;
	c->page.ends = 2;
	c->page.length = KEYS_PAGES * QV_PAGE;
	c->page.end[0] = (struct qv_chan_end){ .offset = QV_PAGE, .size = QV_PAGE };
	c->page.end[1] = (struct qv_chan_end){ .offset = 2 * QV_PAGE, .size = QV_PAGE };
	strcpy(c->page.end[0].name, first);
	strcpy(c->page.end[1].name, second);
}

/* Cell n posts what .ask says, and a CPU of the front end takes the NMI */
s32 keys_post(u32 n, u32 nr)
{
	struct chan_post *p = &keys_cell(n)->cell.post;

	CHECK_EQ(p->state, POST_FREE);
	me()->manager.cells[n + 1].post_next = 0;	/* its turn has come */
	p->nr = nr;
	p->state = POST_SENT;
	CHECK(posts_nmi(pcpu_of(0)));
	CHECK_EQ(p->state, POST_ANSWERED);
	p->state = POST_FREE;
	return p->answer;
}

s32 keys_open(u32 n, u32 key, const char *first, const char *second)
{
	keys_describe(&keys_cell(n)->cell.post.ask, key, first, second, first[0] != 'a' + (int)n);
	return keys_post(n, QV_CALL_OPEN);
}

s32 keys_close(u32 n, u32 window)
{
	keys_cell(n)->cell.post.ask.end = window;
	return keys_post(n, QV_CALL_CLOSE);
}

struct leaf keys_leaf(u32 n, u32 window, u32 page)
{
	return tables_walk(&keys_cell(n)->nested,
			   channel_window(&keys_q[n], window) + page * QV_PAGE);
}

void keys_expect_window(u32 n, u32 window, u64 pa, u32 end)
{
	u32 page;

	for (page = 0; page < KEYS_PAGES; page++) {
		struct leaf l = keys_leaf(n, window, page);

		CHECK(l.present && l.pa == pa + page * QV_PAGE && !l.execute);
		CHECK_EQ(l.write, page == end + 1);
	}
	CHECK(!keys_leaf(n, window, KEYS_PAGES).present && !keys_leaf(n, window, 511).present);
	CHECK_EQ(tables_walk(&keys_cell(n)->host, QV_VA_LIFE + window * QV_PAGE).pa, pa);
}

void keys_expect_none(u32 n, u32 window)
{
	u32 page;

	for (page = 0; page < 512; page++)
		CHECK(!keys_leaf(n, window, page).present);
	CHECK(!tables_walk(&keys_cell(n)->host, QV_VA_LIFE + window * QV_PAGE).present);
}

bool keys_hidden(u64 pa)
{
	return front_owner(&me()->nested, pa, 2) == FRONT_HOLE;
}

bool keys_linux_owns(u64 pa)
{
	return front_owner(&me()->nested, pa, 2) == FRONT_OWNS;
}

bool keys_zero(u64 pa)
{
	u32 i;

	for (i = 0; i < KEYS_PAGES * QV_PAGE && !fake_ram[pa + i]; i++)
		;
	return i == KEYS_PAGES * QV_PAGE;
}

void keys_destroy(u32 n)
{
	if (me()->manager.cells[n + 1].state == QV_MON_RUNNING)
		CHECK_EQ(world_call(QV_HC_STOP, n + 1), 0);
	while (world_call(QV_HC_RECLAIM, n + 1) == 1)
		;
	CHECK_EQ(me()->manager.cells[n + 1].state, QV_MON_NONE);
	keys_w.state[n + 1] = QV_MON_NONE;
}
