// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channels at run time: manage/parts/channel_keys.c. The cells are those of keys_world.h.
 * test_channel_posts.c has the races of requests.
 */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "choices.h"
#include "keys_world.h"
#include "unit.h"

static u32 ipis;

static void count_ipi(u32 low, u32 apic_id)
{
	ipis++;
	fake_answer(low, apic_id);
}

static void cell_to_cell(void)
{
	const u64 pa = POOL_PA(0, 0);
	u32 i;

	keys_world_open(2);
	for (i = 0; i < 2; i++)
		CHECK(keys_hidden(POOL_PA(0, i)));
	keys_expect_none(0, 0);
	memset(fake_ram + pa, 0x77, QV_HUGE);
	CHECK_EQ(keys_open(0, 7, "a", "b"), 0);
	keys_expect_window(0, 0, pa, 0);
	CHECK_EQ(QV_CHAN_STATE(keys_life(pa)->end[0].life), QV_CHAN_IS_RUNNING);
	CHECK_EQ(keys_life(pa)->end[1].life, 0);
	CHECK_EQ(fake_ram[pa + QV_PAGE], 0);
	fake_ram[pa + QV_PAGE] = 0x11;
	keys_expect_none(1, 0);

	ipis = 0;
	fake_ipi = count_ipi;
	CHECK_EQ(keys_open(1, 7, "a", "b"), 0);
	CHECK_EQ(ipis, 0);			/* it costs the peer no exit */
	keys_expect_window(1, 0, pa, 1);
	CHECK_EQ(QV_CHAN_STATE(keys_life(pa)->end[1].life), QV_CHAN_IS_RUNNING);
	CHECK_EQ(fake_ram[pa + QV_PAGE], 0x11);	/* the first end wrote it before */
	CHECK(keys_hidden(pa) && keys_hidden(POOL_PA(1, 0)));
	CHECK_EQ(world_call(QV_HC_CHANNEL, pa), QV_ME_STATE);

	CHECK_EQ(keys_close(0, 0), 0);
	CHECK_EQ(ipis, 1);			/* one NMI for the CPU of the cell that leaves */
	fake_ipi = fake_answer;
	keys_expect_none(0, 0);
	keys_expect_window(1, 0, pa, 1);
	CHECK_EQ(QV_CHAN_STATE(keys_life(pa)->end[0].life), QV_CHAN_IS_ABSENT);
	CHECK_EQ(fake_ram[pa + QV_PAGE], 0x11);
	CHECK_EQ(keys_close(0, 0), QV_KEY_NONE);
	/* the cell that set the memory aside comes back to it */
	CHECK_EQ(keys_open(0, 7, "a", "b"), 0);
	keys_expect_window(0, 0, pa, 0);
	CHECK_EQ(fake_ram[pa + QV_PAGE], 0);	/* a new generation starts with nothing */
	CHECK_EQ(keys_close(0, 0), 0);
	CHECK_EQ(keys_close(1, 0), 0);
	CHECK(keys_zero(pa) && keys_hidden(pa));
	for (i = 0; i < KEYS_CELLS; i++)
		keys_destroy(i);
	for (i = 0; i < 2; i++)
		CHECK(keys_linux_owns(POOL_PA(0, i)) && keys_linux_owns(POOL_PA(1, i)));
}

/* A page with such a channel, or for one, is no page of a channel that a file lists */
static void one_owner(void)
{
	struct qv_mon_channel *c = &keys_q[2].channels[0];
	u32 i;

	for (i = 0; i < 2; i++) {
		keys_world_open(2);
		CHECK_EQ(keys_open(0, 7, "a", "b"), 0);
		keys_destroy(2);
		keys_request(2, 1);
		keys_q[2].num_dynamic = 0;
		keys_describe(c, 0, "linux", "c", 1);
		c->pa[0] = POOL_PA(0, i);
		CHECK_EQ(world_create(&keys_w, &keys_q[2]), QV_ME_CHANNEL_DIFFERS);
		c->pa[0] = POOL_PA(2, 0);
		c->pa[1] = POOL_PA(0, i);
		c->page.length = QV_HUGE + QV_PAGE;
		CHECK_EQ(world_create(&keys_w, &keys_q[2]), QV_ME_MEMORY);
		c->pa[1] = POOL_PA(2, 1);
		CHECK_EQ(world_create(&keys_w, &keys_q[2]), 3);
		/* a request from before the channel was there is refused at start */
		keys_destroy(1);
		keys_request(1, 1);
		keys_q[1].channels[0].pa[0] = POOL_PA(2, i);
		CHECK_EQ(world_create(&keys_w, &keys_q[1]), 2);
		CHECK_EQ(world_call(QV_HC_START, 3), 0);
		CHECK_EQ(world_call(QV_HC_START, 2), i ? QV_ME_MEMORY : QV_ME_CHANNEL_DIFFERS);
		keys_destroy(1);
		CHECK_EQ(world_create(&keys_w, &keys_q[1]),
			 i ? QV_ME_MEMORY : QV_ME_CHANNEL_DIFFERS);
	}
}

/* A listed channel and windows have separate addresses. The listed one alone has a bell */
static void beside_listed(void)
{
	struct qv_mon_channel *c = &keys_q[0].channels[0];
	struct leaf l;

	world_open(&keys_w);
	keys_request(0, 2);
	keys_q[0].num_dynamic = 1;
	keys_describe(c, 0, "a", "linux", 0);
	c->pa[0] = POOL_PA(0, 0);
	CHECK_EQ(world_create(&keys_w, &keys_q[0]), 1);
	CHECK_EQ(world_call(QV_HC_START, 1), 0);
	CHECK_EQ(keys_open(0, 7, "a", "b"), 1);
	l = tables_walk(&keys_cell(0)->nested, QV_CHANNEL_GPA);
	CHECK(l.present && l.pa == POOL_PA(0, 0));
	keys_expect_window(0, 1, POOL_PA(0, 1), 0);
	CHECK_EQ(channel_window(&keys_q[0], 1), 0xFFE00000);
	CHECK_EQ(world_call(QV_HC_BELL, POOL_PA(0, 1) | 0x50), QV_ME_BELL);
	CHECK_EQ(world_call(QV_HC_RING, POOL_PA(0, 1)), QV_ME_BELL);
	CHECK_EQ(world_call(QV_HC_BELL, POOL_PA(0, 0) | 0x50), 0);
	CHECK_EQ(keys_close(0, 0), QV_KEY_NONE);
	CHECK_EQ(keys_close(0, 1), 1);
	keys_expect_none(0, 1);
	keys_destroy(0);
	CHECK(keys_linux_owns(POOL_PA(0, 1)));
}

/* The memory of a cell that is destroyed stays with the other end until it leaves */
static void outlives(void)
{
	const u64 pa = POOL_PA(0, 0);

	keys_world_open(1);
	CHECK_EQ(keys_open(0, 7, "a", "b"), 0);
	CHECK_EQ(keys_open(1, 7, "a", "b"), 0);
	CHECK_EQ(world_call(QV_HC_STOP, 1), 0);
	CHECK_EQ(QV_CHAN_STATE(keys_life(pa)->end[0].life), QV_CHAN_IS_STOPPED);
	keys_destroy(0);
	CHECK(keys_hidden(pa));
	keys_expect_window(1, 0, pa, 1);
	CHECK_EQ(QV_CHAN_STATE(keys_life(pa)->end[0].life), QV_CHAN_IS_ABSENT);
	CHECK_EQ(world_call(QV_HC_CHANNEL, pa), QV_ME_STATE);
	/* another cell of that name may not set the same page aside, but reaches it by its key */
	keys_request(0, 1);
	CHECK_EQ(world_create(&keys_w, &keys_q[0]), QV_ME_CHANNEL_DIFFERS);
	keys_q[0].channels[0].pa[0] = POOL_PA(0, 3);
	CHECK_EQ(world_create(&keys_w, &keys_q[0]), 1);
	CHECK_EQ(world_call(QV_HC_START, 1), 0);
	CHECK_EQ(keys_open(0, 7, "a", "b"), 0);
	keys_expect_window(0, 0, pa, 0);
	keys_destroy(1);
	CHECK(keys_hidden(pa));
	keys_destroy(0);
	CHECK(keys_linux_owns(pa) && keys_linux_owns(POOL_PA(0, 3)) && keys_zero(pa));
	CHECK_EQ(world_call(QV_HC_CHANNEL, pa), 0);
}

static void refusals(void)
{
	struct qv_mon_channel *ask;

	keys_world_open(1);
	ask = &keys_cell(0)->cell.post.ask;
	CHECK_EQ(keys_open(0, 7, "a", "c"), QV_KEY_DENIED);
	CHECK_EQ(keys_open(0, 7, "b", "c"), QV_KEY_MALFORMED);	/* the ends of two others */
	CHECK_EQ(keys_open(0, 7, "a", "a"), QV_KEY_MALFORMED);
	CHECK_EQ(keys_open(0, 0, "a", "b"), QV_KEY_MALFORMED);
	keys_describe(ask, 7, "a", "b", 0);
	ask->page.key = 1ull << 32;
	CHECK_EQ(keys_post(0, QV_CALL_OPEN), QV_KEY_MALFORMED);
	keys_describe(ask, 7, "a", "b", 2);
	CHECK_EQ(keys_post(0, QV_CALL_OPEN), QV_KEY_MALFORMED);
	keys_describe(ask, 7, "a", "b", 0);
	ask->page.ends = 3;
	CHECK_EQ(keys_post(0, QV_CALL_OPEN), QV_KEY_MALFORMED);
	keys_describe(ask, 7, "a", "b", 0);
	ask->page.length = 2 * QV_HUGE;
	CHECK_EQ(keys_post(0, QV_CALL_OPEN), QV_KEY_MALFORMED);
	keys_describe(ask, 7, "a", "b", 0);
	ask->page.end[1].offset = QV_HUGE - QV_PAGE;
	CHECK_EQ(keys_post(0, QV_CALL_OPEN), QV_KEY_MALFORMED);
	CHECK_EQ(keys_close(0, 0), QV_KEY_NONE);
	CHECK_EQ(keys_close(0, ~0u), QV_KEY_NONE);
	keys_expect_none(0, 0);

	CHECK_EQ(keys_open(0, 7, "a", "b"), 0);
	CHECK_EQ(keys_open(0, 7, "a", "b"), QV_KEY_DIFFERS);	/* its end is taken */
	CHECK_EQ(keys_open(0, 8, "a", "b"), QV_KEY_FULL);
	keys_describe(&keys_cell(1)->cell.post.ask, 7, "a", "b", 1);
	keys_cell(1)->cell.post.ask.page.item = 16;
	CHECK_EQ(keys_post(1, QV_CALL_OPEN), QV_KEY_DIFFERS);
	CHECK_EQ(keys_open(1, 7, "b", "a"), QV_KEY_DIFFERS);	/* both would write */
	/* a third cell gets a channel of its own, whatever key it guesses */
	CHECK_EQ(keys_open(2, 7, "a", "c"), 0);
	keys_expect_window(2, 0, POOL_PA(2, 0), 1);
	CHECK_EQ(keys_open(2, 7, "a", "b"), QV_KEY_MALFORMED);
	CHECK_EQ(keys_open(1, 7, "a", "b"), 0);
	keys_expect_window(1, 0, POOL_PA(0, 0), 1);
	/* Linux has no end of it */
	CHECK_EQ(world_call(QV_HC_KEY, 1 | 7 << 8), QV_ME_KEY);
	CHECK_EQ(world_call(QV_HC_KEY, 2 | 7 << 8), QV_ME_KEY);
	CHECK_EQ(world_call(QV_HC_CHANNEL, POOL_PA(0, 0)), QV_ME_STATE);
	CHECK_EQ(world_call(QV_HC_CHANNEL, POOL_PA(1, 0)), QV_ME_STATE);
}

static struct leaf of_linux(u64 pa)
{
	return tables_walk(&me()->nested, pa);
}

static void with_linux(void)
{
	const u64 pa = POOL_PA(0, 1);
	u32 page, round;

	keys_world_open(2);
	CHECK_EQ(world_call(QV_HC_KEY, 1 | 9 << 8), QV_ME_KEY);
	CHECK_EQ(keys_open(0, 7, "a", "b"), 0);
	for (round = 0; round < 3; round++) {
		CHECK_EQ(keys_open(0, 9, "a", "linux"), 1);
		CHECK(keys_hidden(pa));
		CHECK_EQ(world_call(QV_HC_KEY, 1 | 9 << 8), 1);
		CHECK_EQ(world_call(QV_HC_KEY, 1 | 9 << 8), QV_ME_CHANNEL_DIFFERS);
		for (page = 0; page < KEYS_PAGES; page++) {
			struct leaf l = of_linux(pa + page * QV_PAGE);

			CHECK(l.present && l.pa == pa + page * QV_PAGE);
			CHECK_EQ(l.write, page == 2);
		}
		CHECK(!of_linux(pa + KEYS_PAGES * QV_PAGE).present);
		CHECK_EQ(QV_CHAN_STATE(keys_life(pa)->end[1].life), QV_CHAN_IS_RUNNING);
		fake_ram[pa + 2 * QV_PAGE] = 0x33;
		/* Linux leaves first, or the cell does */
		if (round) {
			CHECK_EQ(keys_close(0, 1), 1);
			CHECK(of_linux(pa).present);
		}
		CHECK_EQ(world_call(QV_HC_CHANNEL, pa), 0);
		CHECK(keys_hidden(pa));
		if (!round) {
			keys_expect_window(0, 1, pa, 0);
			CHECK_EQ(QV_CHAN_STATE(keys_life(pa)->end[1].life), QV_CHAN_IS_ABSENT);
			CHECK_EQ(keys_close(0, 1), 1);
		}
		CHECK(keys_zero(pa));
		CHECK_EQ(world_call(QV_HC_CHANNEL, pa), QV_ME_STATE);	/* it is set aside */
	}
	CHECK_EQ(keys_open(0, 9, "a", "linux"), 1);
	CHECK_EQ(world_call(QV_HC_KEY, 1 | 9 << 8), 1);
	keys_destroy(0);
	CHECK(of_linux(pa).present && !keys_linux_owns(pa));		/* Linux may drain it */
	CHECK_EQ(world_call(QV_HC_CHANNEL, pa), 0);
	CHECK(keys_linux_owns(pa) && keys_zero(pa));
}

#define CHANGES(X) \
	X(nothing, OK, (void)0) \
	X(first_beyond, CHANNEL, r->num_dynamic = 3) \
	X(described, CHANNEL, r->channels[0].page.ends = 2) \
	X(part_of_a_page, CHANNEL, r->channels[1].page.length = QV_PAGE) \
	X(two_pages, CHANNEL, (r->channels[1].page.length = 2 * QV_HUGE, \
			       r->channels[1].pa[1] = POOL_PA(0, 3))) \
	X(with_a_bell, CHANNEL, r->channels[1].bell_vector = 0x50) \
	X(whole_range, OK, keys_request(0, QV_CHANNEL_LEN / QV_HUGE)) \
	X(beyond_range, CHANNEL, keys_request(0, QV_CHANNEL_LEN / QV_HUGE + 1)) \
	X(twice, MEMORY, r->channels[1].pa[0] = r->channels[0].pa[0]) \
	X(unaligned, MEMORY, r->channels[1].pa[0] += QV_PAGE) \
	X(too_many_with, CHANNEL, r->num_with = QV_MAX_WITH + 1) \
	X(on_standby, ENTRY, r->standby = 1) \
	X(in_own_memory, MEMORY, r->channels[0].pa[0] = r->runs[0].pa) \
	X(in_monitor, MEMORY, r->channels[0].pa[0] = FAKE_BLOCK) \
	X(key_of_a_static, CHANNEL, (keys_describe(&r->channels[0], 7, "a", "b", 0), \
				     r->channels[0].pa[0] = POOL_PA(0, 0), r->num_dynamic = 1))

static void requests(void)
{
	struct qv_mon_create *r = &keys_q[0];
	u64 got, want;

#define X(name, error, change) \
	world_open(&keys_w); \
	keys_request(0, 2); \
	change; \
	got = world_create(&keys_w, r); \
	want = QV_ME_##error; \
	unit_case(#name); \
	CHECK_EQ(got > QV_ME_BASE ? got : QV_ME_OK, want);
	CHANGES(X)
#undef X
}

/*
 * Random opens, closes, calls of Linux, stops and starts. After each step no page that a cell does
 * not share is in its tables, and Linux reaches only what it has opened.
 */
static u32 who_maps(u64 pa)
{
	u32 n, i, who = 0;

	for (n = 0; n < KEYS_CELLS; n++)
		for (i = 0; me()->manager.cells[n + 1].state && i < 2; i++) {
			struct leaf l = keys_leaf(n, i, 0);

			if (l.present && l.pa == pa)
				who |= 1u << (n + 1);
		}
	return who;
}

static void check_owners(void)
{
	u32 n, i, k;

	for (n = 0; n < KEYS_CELLS; n++)
		for (i = 0; i < 2; i++) {
			u64 pa = POOL_PA(n, i);
			const struct channel *r = NULL;

			for (k = 0; k < QV_MON_CHANNELS; k++)
				if (me()->manager.channels[k].is.pa[0] == pa)
					r = &me()->manager.channels[k];
			unit_case("page %u of cell %u:", i, n + 1);
			CHECK_EQ(who_maps(pa), r ? r->users & ~1u : 0);
			CHECK_EQ(keys_linux_owns(pa), !r);
			if (!r)
				continue;
			CHECK_EQ(keys_hidden(pa), !(r->users & 1));
			CHECK(r->owner || r->users);
			if (!r->users)
				CHECK(keys_zero(pa));
			/* two cells, or a cell and Linux */
			CHECK(__builtin_popcount(r->users) <= 2);
			CHECK(r->users == (r->users & 3) || !(r->users & 1));
			CHECK(!(r->users >> 2 & 1) || !(r->users >> 3 & 1));
		}
}

static void random_step(struct choices *c)
{
	static const char *const ends[] = { "a", "b", "c", "linux" };
	u32 n = choose(c, KEYS_CELLS), key = 1 + choose(c, 3);

	switch (choose(c, 8)) {
	case 0:
	case 1:
	case 2:
		if (me()->manager.cells[n + 1].state == QV_MON_RUNNING)
			keys_open(n, key, ends[choose(c, 4)], ends[choose(c, 4)]);
		break;
	case 3:
	case 4:
		if (me()->manager.cells[n + 1].state == QV_MON_RUNNING)
			keys_close(n, choose(c, 3));
		break;
	case 5:
		world_call(QV_HC_KEY, (n + 1) | key << 8);
		break;
	case 6:
		world_call(QV_HC_CHANNEL, POOL_PA(n, choose(c, 2)));
		break;
	default:
		if (choose(c, 4))
			break;
		if (me()->manager.cells[n + 1].state)
			keys_destroy(n);
		keys_request(n, 2);
		/* refused while another cell uses a page of the last life */
		if (world_create(&keys_w, &keys_q[n]) == n + 1 && world_call(QV_HC_START, n + 1))
			keys_destroy(n);
	}
}

static void random_world(void)
{
	struct choices c = { 0 };
	u32 i;

	keys_world_open(2);
	for (i = 0; i < 3000; i++) {
		random_step(&c);
		check_owners();
	}
	for (i = 0; i < KEYS_CELLS; i++)
		if (me()->manager.cells[i + 1].state)
			keys_destroy(i);
	for (i = 0; i < 2 * KEYS_CELLS; i++) {
		CHECK_EQ(world_call(QV_HC_CHANNEL, POOL_PA(i / 2, i % 2)), 0);
		CHECK(keys_linux_owns(POOL_PA(i / 2, i % 2)));
	}
}

UNIT_SUITE(channel_keys) = {
	{ "channel keys: two cells share one, and Linux cannot", cell_to_cell },
	{ "channel keys: memory of a destroyed cell stays with the other end", outlives },
	{ "channel keys: no page has two owners", one_owner },
	{ "channel keys: beside a channel that is listed", beside_listed },
	{ "channel keys: refusals", refusals },
	{ "channel keys: Linux has one end", with_linux },
	{ "channel keys: memory in the request of a cell", requests },
	{ "channel keys: random steps of three cells and Linux", random_world },
	{ 0 }
};
