// SPDX-License-Identifier: GPL-2.0-only
/* parts/channels.c: the ends that map a channel, its clearing, and the words of its life page. */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "cell/cell.h"
#include "core/cpu.h"
#include "manage/manage.h"
#include "tables/nested.h"
#include "channels_world.h"
#include "fake.h"
#include "request_model.h"
#include "tables.h"
#include "unit.h"
#include "world.h"

static struct qv_chan_page *life(void)
{
	return (struct qv_chan_page *)(fake_ram + CHANNEL_PA);
}

static bool clear(u64 offset, u64 len)
{
	u64 i;

	for (i = 0; i < len && !fake_ram[CHANNEL_PA + offset + i]; i++)
		;
	return i == len;
}

static struct leaf of_cell(const struct qv_mon_create *q, u32 page)
{
	return tables_walk(&fake_instance(q->block_pa)->nested, QV_CHANNEL_GPA + page * QV_PAGE);
}

static struct leaf of_linux(u32 page)
{
	return tables_walk(&me()->nested, CHANNEL_PA + page * QV_PAGE);
}

static bool linux_owns(void)
{
	return front_owner(&me()->nested, CHANNEL_PA, 2) == FRONT_OWNS;
}

static void expect_maps(const struct qv_mon_create *q, u32 end)
{
	u32 page;

	for (page = 0; page < SECTIONS; page++) {
		struct leaf l = of_cell(q, page);

		CHECK(l.present && l.pa == CHANNEL_PA + page * QV_PAGE && !l.execute);
		CHECK_EQ(l.write, page == end + 1);
	}
	CHECK(!of_cell(q, SECTIONS).present);
}

static void two_cells(void)
{
	static struct qv_mon_create q[2];
	struct world w;
	u64 generation;
	u32 n;

	world_open(&w);
	for (n = 0; n < 2; n++) {
		channels_request(&q[n], n, n ? "a" : "b");
		CHECK_EQ(world_create(&w, &q[n]), n + 1);
		expect_maps(&q[n], n);
	}
	CHECK(linux_owns());
	memset(fake_ram + CHANNEL_PA, 0x77, QV_HUGE);		/* left by Linux */
	CHECK_EQ(world_start(&w, 1), 0);
	for (n = 0; n < 512; n++)
		CHECK(!of_linux(n).present);
	CHECK(life()->session != 0);
	CHECK_EQ(QV_CHAN_STATE(life()->end[0].life), QV_CHAN_IS_RUNNING);
	CHECK_EQ(life()->end[1].life, 0);
	fake_ram[CHANNEL_PA + QV_PAGE] = 0x11;
	CHECK_EQ(world_start(&w, 2), 0);
	CHECK_EQ(QV_CHAN_STATE(life()->end[1].life), QV_CHAN_IS_RUNNING);
	CHECK(life()->end[0].life != life()->end[1].life);	/* generations do not repeat */
	CHECK_EQ(fake_ram[CHANNEL_PA + QV_PAGE], 0x11);

	generation = QV_CHAN_GENERATION(life()->end[0].life);
	CHECK_EQ(world_stop(&w, 1), 0);
	CHECK_EQ(life()->end[0].life, QV_CHAN_LIFE(generation, QV_CHAN_IS_STOPPED));
	channels_destroy(&w, 1);
	CHECK_EQ(life()->end[0].life, QV_CHAN_LIFE(generation, QV_CHAN_IS_ABSENT));
	CHECK_EQ(fake_ram[CHANNEL_PA + QV_PAGE], 0x11);		/* the peer may drain it */
	CHECK(!of_linux(0).present);

	fake_ram[CHANNEL_PA + 2 * QV_PAGE] = 0x22;
	CHECK_EQ(world_create(&w, &q[0]), 1);			/* it joins again */
	CHECK_EQ(world_start(&w, 1), 0);
	CHECK(QV_CHAN_GENERATION(life()->end[0].life) > generation);
	CHECK_EQ(fake_ram[CHANNEL_PA + 2 * QV_PAGE], 0x22);	/* the section of the other end */
	for (n = 1; n <= 2; n++) {
		CHECK(!linux_owns());
		CHECK_EQ(world_stop(&w, n), 0);
		channels_destroy(&w, n);
	}
	CHECK(linux_owns() && of_linux(2).write);
	CHECK(clear(0, SECTIONS * QV_PAGE));
}

/* Both ends write the one section of a memory. The start of the second does not clear it */
static void two_writers(void)
{
	static struct qv_mon_create q[2];
	struct world w;
	u32 n;

	world_open(&w);
	for (n = 0; n < 2; n++) {
		struct qv_chan_page *page = &q[n].channels[0].page;

		channels_request(&q[n], n, n ? "a" : "b");
		page->type = QV_CHAN_MEMORY;
		page->length = 2 * QV_PAGE;
		page->end[1].offset = page->end[1].size = 0;
		page->end[1].flags = QV_CHAN_END_WRITES;
		CHECK_EQ(world_create(&w, &q[n]), n + 1);
		CHECK(of_cell(&q[n], 0).present && !of_cell(&q[n], 0).write);
		CHECK(of_cell(&q[n], 1).write && !of_cell(&q[n], 1).execute);
		CHECK(!of_cell(&q[n], 2).present);
	}
	CHECK_EQ(world_start(&w, 1), 0);
	fake_ram[CHANNEL_PA + QV_PAGE] = 0x11;
	CHECK_EQ(world_start(&w, 2), 0);
	CHECK_EQ(fake_ram[CHANNEL_PA + QV_PAGE], 0x11);
	for (n = 1; n <= 2; n++) {
		CHECK_EQ(world_stop(&w, n), 0);
		channels_destroy(&w, n);
	}
	CHECK(linux_owns());
}

/* Linux reads all and writes its own section, until the driver gives the channel back */
static void with_linux(void)
{
	static struct qv_mon_create q;
	struct world w;
	u32 page, round, pool = 0;

	world_open(&w);
	for (round = 0; round < 5; round++) {
		channels_request(&q, 0, "linux");
		CHECK_EQ(world_create(&w, &q), 1);
		CHECK_EQ(world_start(&w, 1), 0);
		for (page = 0; page < SECTIONS; page++) {
			struct leaf l = of_linux(page);

			CHECK(l.present && l.pa == CHANNEL_PA + page * QV_PAGE);
			CHECK_EQ(l.write, page == 2);
			/* also what it may write is no memory for cells, and no window */
			CHECK_EQ(front_owner(&me()->nested, l.pa, 1), FRONT_SPECIAL);
		}
		CHECK(!of_linux(SECTIONS).present && !of_linux(511).present);
		CHECK(channel_at(CHANNEL_PA) && !channel_at(CHANNEL_PA + QV_PAGE));
		CHECK(!channel_at(0));
		CHECK_EQ(QV_CHAN_STATE(life()->end[1].life), QV_CHAN_IS_RUNNING);
		/* the cell uses it */
		CHECK_EQ(world_call(QV_HC_CHANNEL, CHANNEL_PA), QV_ME_STATE);
		CHECK_EQ(world_stop(&w, 1), 0);
		channels_destroy(&w, 1);
		CHECK(of_linux(1).present && !of_linux(1).write);	/* Linux may drain it */
		CHECK_EQ(world_create(&w, &q), 1);
		CHECK_EQ(world_start(&w, 1), 0);
		CHECK_EQ(world_stop(&w, 1), 0);
		channels_destroy(&w, 1);
		fake_ram[CHANNEL_PA + 2 * QV_PAGE] = 0x33;
		CHECK_EQ(world_call(QV_HC_CHANNEL, CHANNEL_PA), 0);
		CHECK(linux_owns() && of_linux(1).write);
		CHECK_EQ(fake_ram[CHANNEL_PA + 2 * QV_PAGE], 0);
		CHECK_EQ(world_call(QV_HC_CHANNEL, CHANNEL_PA), 0);	/* nothing is left to do */
		CHECK_EQ(world_call(QV_HC_CHANNEL, 0), 0);
		if (round)
			CHECK_EQ(me()->pt_pool.next, pool);	/* no page of tables is lost */
		pool = me()->pt_pool.next;
	}
}

static u32 flushes_after;

/* Counts flushes of CPUs after the channel was opened to Linux */
static void count_flush(u32 low, u32 apic_id)
{
	u32 i;

	for (i = 0; i < FAKE_CPUS; i++)
		if (pcpu_of(i)->apic_id == apic_id && pcpu_of(i)->cmd & CMD_FLUSH &&
		    of_linux(0).present)
			flushes_after++;
	fake_answer(low, apic_id);
}

/* A CPU that touched the hole no longer sees the dummy page when the channel is open */
static void opened_then_flushed(void)
{
	static struct qv_mon_create q;
	struct world w;

	world_open(&w);
	channels_request(&q, 0, "linux");
	CHECK_EQ(world_create(&w, &q), 1);
	flushes_after = 0;
	fake_ipi = count_flush;
	CHECK_EQ(world_start(&w, 1), 0);
	fake_ipi = fake_answer;
	CHECK_EQ(flushes_after, FAKE_CPUS - 1);	/* all but the caller */
}

/* A cell that fails tells the other end itself, without a call by Linux */
static void failed(void)
{
	static struct qv_mon_create q;
	const struct instance *cell;
	struct world w;
	struct leaf l;
	u64 before;

	world_open(&w);
	channels_request(&q, 0, "linux");
	CHECK_EQ(world_create(&w, &q), 1);
	cell = fake_instance(q.block_pa);
	l = tables_walk(&cell->host, QV_VA_LIFE);
	CHECK(l.present && l.write && !l.execute && l.pa == CHANNEL_PA);
	CHECK(!tables_walk(&cell->host, QV_VA_LIFE + QV_PAGE).present);
	CHECK_EQ(world_start(&w, 1), 0);
	before = life()->end[0].life;
	life()->end[0].life = (before & ~0xffull) | QV_CHAN_IS_FAILED;	/* as its instance does */
	CHECK_EQ(world_stop(&w, 1), 0);
	/* it stays failed */
	CHECK_EQ(life()->end[0].life, (before & ~0xffull) | QV_CHAN_IS_FAILED);
}

static void all_pages(struct qv_mon_channel *c)
{
	u32 k;

	for (k = 0; k < QV_MON_CHANNEL_PAGES; k++)
		c->pa[k] = (70ull + k) * QV_HUGE;
}

#define CHANGES(X) \
	X(nothing, OK, (void)0) \
	X(too_many, CHANNEL, q.num_channels = QV_MAX_CHANNELS + 1) \
	X(huge, CHANNEL, q.num_channels = ~0u) \
	X(another_name, CHANNEL, c->page.end[0].name[1] = 'x') \
	X(another_end, CHANNEL, c->end = 1) \
	X(no_such_end, CHANNEL, c->end = 2) \
	X(ends_huge, CHANNEL, c->page.ends = ~0u) \
	X(unaligned, MEMORY, c->pa[0] += 8) \
	X(at_zero, MEMORY, c->pa[0] = 0) \
	X(half_a_huge_page, MEMORY, c->pa[0] += QV_HUGE / 2) \
	X(second_of_another, MEMORY, (q.num_channels = 2, q.channels[1] = *c, channels_long(c), \
				       q.channels[1].pa[0] = c->pa[1])) \
	X(last_of_another, MEMORY, (q.num_channels = 2, q.channels[1] = *c, \
				     q.channels[1].pa[0] += QV_HUGE, channels_long(c), \
				     c->pa[2] = q.channels[1].pa[0])) \
	X(page_each, OK, (q.num_channels = 2, q.channels[1] = *c, \
			  q.channels[1].pa[0] += QV_HUGE)) \
	X(second_unaligned, MEMORY, (channels_long(c), c->pa[1] += QV_PAGE)) \
	X(second_missing, MEMORY, (channels_long(c), c->pa[1] = 0)) \
	X(second_twice, MEMORY, (channels_long(c), c->pa[1] = c->pa[2])) \
	X(first_twice, MEMORY, (channels_long(c), c->pa[2] = c->pa[0])) \
	X(second_in_memory, MEMORY, (channels_long(c), c->pa[1] = q.runs[0].pa)) \
	X(second_in_block, MEMORY, (channels_long(c), c->pa[2] = q.block_pa)) \
	X(second_is_no_ram, MEMORY, (channels_long(c), c->pa[2] = FAKE_ECAM)) \
	X(twice, MEMORY, (q.num_channels = 2, q.channels[1] = *c)) \
	X(too_long, CHANNEL, c->page.length = QV_CHANNEL_LEN + QV_PAGE) \
	X(sum_too_long, CHANNEL, (channels_long(c), c->page.length = QV_CHANNEL_LEN, \
				  all_pages(c), q.num_channels = 2, q.channels[1] = *c, \
				  channels_describe(&q.channels[1], 0, "a", "linux"), \
				  q.channels[1].pa[0] = 100ull * QV_HUGE)) \
	X(no_length, CHANNEL, c->page.length = 0) \
	X(half_a_page, CHANNEL, c->page.length -= 8) \
	X(section_over_life_page, CHANNEL, c->page.end[1].offset = 0) \
	X(section_unaligned, CHANNEL, c->page.end[1].offset += 8) \
	X(section_size_unaligned, CHANNEL, c->page.end[1].size = 8) \
	X(section_outside, CHANNEL, c->page.end[1].offset += QV_PAGE) \
	X(section_far_outside, CHANNEL, c->page.end[1].offset = -(u64)QV_PAGE) \
	X(section_huge, CHANNEL, c->page.end[1].size = -(u64)QV_PAGE) \
	X(sections_overlap, CHANNEL, c->page.end[1].offset = QV_PAGE) \
	X(bell, OK, c->bell_vector = 32) \
	X(bell_of_an_exception, BELL, c->bell_vector = 31) \
	X(bell_beyond_vectors, BELL, c->bell_vector = 256) \
	X(bell_to_no_cpu, BELL, (c->bell_vector = 32, c->bell_cpu = q.num_cpus)) \
	X(in_own_block, MEMORY, c->pa[0] = q.block_pa) \
	X(in_own_memory, MEMORY, c->pa[0] = q.runs[0].pa + QV_HUGE) \
	X(in_own_window, MEMORY, c->pa[0] = q.console_pa & ~(QV_HUGE - 1ull)) \
	X(in_monitor, MEMORY, c->pa[0] = FAKE_BLOCK) \
	X(no_ram, MEMORY, c->pa[0] = FAKE_ECAM)

static void refusals(void)
{
	static struct qv_mon_create q;
	struct qv_mon_channel *c = &q.channels[0];
	struct world w;
	u64 got, want;

#define X(name, error, change) \
	world_open(&w); \
	channels_request(&q, 0, "linux"); \
	change; \
	got = world_create(&w, &q); \
	want = QV_ME_##error; \
	unit_case(#name); \
	CHECK_EQ(got > QV_ME_BASE ? got : QV_ME_OK, want);
	CHANGES(X)
#undef X
}

/* The second end differs, or names other memory of the first */
static void disagreement(void)
{
	static struct qv_mon_create q[2];
	struct world w;
	u32 word;

	for (word = 0; word < sizeof(struct qv_chan_page) / 4; word += 7) {
		world_open(&w);
		channels_request(&q[0], 0, "b");
		channels_request(&q[1], 1, "a");
		((u32 *)&q[0].channels[0].page)[word] ^= 1;
		if (world_create(&w, &q[0]) != 1)
			continue;		/* the change is not even valid */
		CHECK_EQ(world_create(&w, &q[1]), 2);
		CHECK_EQ(world_start(&w, 2), 0);
		CHECK_EQ(world_start(&w, 1), QV_ME_CHANNEL_DIFFERS);
		CHECK_EQ(me()->manager.cells[1].state, QV_MON_CREATED);
	}
	/* an impostor: another cell has the name of an end that is taken */
	world_open(&w);
	channels_request(&q[0], 0, "b");
	channels_request(&q[1], 1, "a");
	CHECK_EQ(world_create(&w, &q[0]), 1);
	CHECK_EQ(world_start(&w, 1), 0);
	strcpy((char *)q[1].name, "a");
	q[1].channels[0].end = 0;
	CHECK_EQ(world_create(&w, &q[1]), 2);
	CHECK_EQ(world_start(&w, 2), QV_ME_CHANNEL_DIFFERS);
}

/* Without QV_CHAN_RECONNECT, no cell takes the place of a destroyed cell or reads what it left */
static void never_again(void)
{
	static struct qv_mon_create q[2];
	struct world w;
	u32 n;

	world_open(&w);
	for (n = 0; n < 2; n++) {
		channels_request(&q[n], n, n ? "a" : "b");
		q[n].channels[0].page.flags = 0;
		CHECK_EQ(world_create(&w, &q[n]), n + 1);
		CHECK_EQ(world_start(&w, n + 1), 0);
	}
	CHECK_EQ(world_stop(&w, 2), 0);
	channels_destroy(&w, 2);
	CHECK_EQ(world_create(&w, &q[1]), 2);
	CHECK_EQ(world_start(&w, 2), QV_ME_CHANNEL_DIFFERS);
	CHECK_EQ(world_stop(&w, 1), 0);
	/* the last user: the next start makes a new channel */
	channels_destroy(&w, 1);
	CHECK_EQ(world_start(&w, 2), 0);
}

/* Memory of a channel does not become another cell's memory or window */
static void no_second_owner(void)
{
	static struct qv_mon_create q, other;
	struct world w;

	world_open(&w);
	channels_request(&q, 0, "linux");
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(world_start(&w, 1), 0);
	channels_request(&other, 1, "linux");
	other.num_channels = 0;
	other.console_pa = CHANNEL_PA;
	CHECK_EQ(world_create(&w, &other), QV_ME_CONSOLE);
	other.console_pa = CHANNEL_PA + 2 * QV_PAGE;	/* Linux may write there */
	CHECK_EQ(world_create(&w, &other), QV_ME_CONSOLE);
	channels_request(&other, 1, "linux");
	other.num_channels = 0;
	other.block_pa = CHANNEL_PA;
	CHECK_EQ(world_create(&w, &other), QV_ME_BLOCK);
	channels_request(&other, 1, "linux");
	other.num_channels = 0;
	other.runs[0] = (struct qv_mon_run){ CHANNEL_PA, 1 };
	CHECK_EQ(world_create(&w, &other), QV_ME_MEMORY);
}

/* Another cell's memory does not become a channel: it is seen at create or at start */
static void not_of_a_cell(void)
{
	static struct qv_mon_create q, other;
	struct world w;

	world_open(&w);
	channels_request(&other, 1, "linux");
	other.num_channels = 0;
	CHECK_EQ(world_create(&w, &other), 1);
	channels_request(&q, 0, "linux");
	q.channels[0].pa[0] = other.runs[0].pa;
	CHECK_EQ(world_create(&w, &q), 2);
	CHECK_EQ(world_start(&w, 1), 0);
	CHECK_EQ(world_start(&w, 2), QV_ME_MEMORY);
}

/* The flush of a start fails: the channel is Linux's again */
static void start_fails(void)
{
	static struct qv_mon_create q;
	struct world w;

	world_open(&w);
	fake_time();
	channels_request(&q, 0, "linux");
	CHECK_EQ(world_create(&w, &q), 1);
	fake_deaf = CMD_FLUSH;
	CHECK_EQ(world_start(&w, 1), QV_ME_CPU_STUCK);
	fake_deaf = 0;
	CHECK(linux_owns());
	CHECK_EQ(world_start(&w, 1), 0);
	CHECK(!linux_owns());
}

/* The CPU that boots a cell clears the cell's section and then says that the cell runs */
static void section_cleared(void)
{
	static struct qv_mon_create q;
	struct pcpu *cpu;
	u64 stopping;

	for (stopping = 0; stopping < 2; stopping++) {
		fake_open(true, true);
		fake_become_cell();
		channels_request(&q, 1, "a");
		channels_long(&q.channels[0]);
		q.channels[0].page.end[0].size = QV_PAGE;	/* end 1 has the 5 MiB now */
		q.channels[0].page.end[1].offset = 2 * QV_PAGE;
		q.channels[0].page.end[1].size = 5u << 20;
		me()->req = q;
		me()->gmem_entries[(QV_VA_LIFE - QV_VA_GMEM) / QV_PAGE] = CHANNEL_PA | PT_P | PT_W;
		invlpg(QV_VA_LIFE);
		memset(fake_ram + CHANNEL_PA, 0x77, 7 * QV_HUGE);
		life()->end[1].life = QV_CHAN_LIFE(5, QV_CHAN_IS_ABSENT);
		cpu = pcpu_of(0);
		cpu->cmd = stopping ? CMD_STOP : 0;
		cell_channels_begin(cpu);
		/* the window shows no section, to write, any longer */
		CHECK_EQ(me()->gmem_entries[cpu->index] & (PT_ADDR | PT_W), me()->boot.block_pa);
		CHECK_EQ(life()->end[1].life,
			 QV_CHAN_LIFE(5, stopping ? QV_CHAN_IS_ABSENT : QV_CHAN_IS_RUNNING));
		CHECK_EQ(fake_ram[CHANNEL_PA + QV_PAGE], 0x77);
		CHECK_EQ(fake_ram[CHANNEL_PA + 2 * QV_PAGE - 1], 0x77);
		if (stopping)
			continue;
		CHECK(clear(2 * QV_PAGE, QV_HUGE - 2 * QV_PAGE));
		CHECK(clear(6 * QV_HUGE, QV_HUGE));		/* pa[1] */
		CHECK(clear(4 * QV_HUGE, (1u << 20) + 2 * QV_PAGE));	/* pa[2] */
		CHECK_EQ(fake_ram[CHANNEL_PA + 4 * QV_HUGE + (1u << 20) + 2 * QV_PAGE], 0x77);
		CHECK_EQ(fake_ram[CHANNEL_PA + QV_HUGE], 0x77);
		/* on standby it begins again, under a generation that the manager never gives */
		life()->end[1].life = QV_CHAN_LIFE(5, QV_CHAN_IS_FAILED);
		my_status()->failures = 1;
		memset(fake_ram + CHANNEL_PA + 2 * QV_PAGE, 0x77, QV_PAGE);
		cell_channels_begin(cpu);
		CHECK_EQ(life()->end[1].life,
			 QV_CHAN_LIFE((1ull << 32) + 5, QV_CHAN_IS_RUNNING));
		CHECK(clear(2 * QV_PAGE, QV_HUGE - 2 * QV_PAGE));
		/* and a memory is as the last life left it */
		me()->req.channels[0].page.type = QV_CHAN_MEMORY;
		memset(fake_ram + CHANNEL_PA + 2 * QV_PAGE, 0x77, QV_PAGE);
		cell_channels_begin(cpu);
		CHECK_EQ(fake_ram[CHANNEL_PA + 2 * QV_PAGE], 0x77);
		CHECK_EQ(life()->end[1].life,
			 QV_CHAN_LIFE((2ull << 32) + 5, QV_CHAN_IS_RUNNING));
		my_status()->failures = 0;		/* a start by Linux */
		cell_channels_begin(cpu);
		CHECK(clear(2 * QV_PAGE, QV_HUGE - 2 * QV_PAGE));
	}
}

UNIT_SUITE(channels) = {
	{ "channels: two cells share one, and it outlives each", two_cells },
	{ "channels: a memory with two writers", two_writers },
	{ "channels: Linux has one end", with_linux },
	{ "channels: Linux's CPUs are flushed after one is opened", opened_then_flushed },
	{ "channels: a cell's instance may say that the cell failed", failed },
	{ "channels: malformed descriptions", refusals },
	{ "channels: ends that do not agree", disagreement },
	{ "channels: no second cell for an end that must not reconnect", never_again },
	{ "channels: the memory has no second owner", no_second_owner },
	{ "channels: another cell's memory", not_of_a_cell },
	{ "channels: a start that fails", start_fails },
	{ "channels: the cell's CPU clears its section", section_cleared },
	{ 0 }
};
