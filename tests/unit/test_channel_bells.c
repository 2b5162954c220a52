// SPDX-License-Identifier: GPL-2.0-only
/* manage/channel_bells.c, and QV_CALL_BELL of a cell: the CPU that each bell interrupts. */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "cell/cell.h"
#include "core/kick.h"
#include "fake.h"
#include "heard.h"
#include "unit.h"
#include "world.h"

#define CHANNEL_PA	(70ull * QV_HUGE)

/* The cell `a` (CPU 1) writes, `b` (CPU 3) or Linux reads. Vectors: 0x50 of a, 0x51 of b */
static void request(struct qv_mon_create *q, u32 n, const char *reader)
{
	struct qv_mon_channel *c = &q->channels[0];

	memset(q, 0, sizeof(*q));
	strcpy((char *)q->name, n ? "b" : "a");
	q->block_pa = (40 + 10 * n) * (u64)QV_HUGE;
	q->console_pa = 0x480000 + n * 0x10000;
	q->num_cpus = 1;
	q->cpus[0] = 1 + 2 * n;
	q->num_runs = 1;
	q->runs[0] = (struct qv_mon_run){ (42 + 10 * n) * (u64)QV_HUGE, 2 };
	q->bell_rate = 10;
	q->num_channels = 1;
	c->pa[0] = CHANNEL_PA;
	c->end = n;
	c->bell_vector = 0x50 + n;
	c->page.type = QV_CHAN_RING;
	c->page.flags = QV_CHAN_RECONNECT | QV_CHAN_BELL;
	c->page.ends = 2;
	c->page.length = 3 * QV_PAGE;
	c->page.end[0] = (struct qv_chan_end){ .offset = QV_PAGE, .size = QV_PAGE };
	c->page.end[1] = (struct qv_chan_end){ .offset = 2 * QV_PAGE, .size = QV_PAGE };
	strcpy(c->page.end[0].name, "a");
	strcpy(c->page.end[1].name, reader);
}

/* ---- interrupts that were sent ---- */

static bool shut_at_catch;
static const struct qv_mon_create *watched;	/* a cell whose targets are checked at commands */

static u64 target(const struct qv_mon_create *q, u32 end)
{
	return fake_instance(q->block_pa)->bells.target[0][end];
}

static void hear(u32 low, u32 apic_id)
{
	u32 i;

	for (i = 0; watched && low >> 8 & 7 && i < FAKE_CPUS; i++)
		if (pcpu_of(i)->apic_id == apic_id && pcpu_of(i)->cmd & CMD_CATCH)
			shut_at_catch = !target(watched, 1);
	heard_ipi(low, apic_id);
}

static void listen(struct world *w)
{
	world_open(w);
	fake_ipi = hear;
	watched = NULL;
	heard_nothing();
}

static u64 to_linux(u32 cpu, u32 vector)
{
	return CHANNEL_PA | (u64)cpu << 56 | vector;
}

/* ---- tests ---- */

static void between_cells(void)
{
	static struct qv_mon_create q[2];
	struct world w;
	u32 n;

	listen(&w);
	for (n = 0; n < 2; n++) {
		request(&q[n], n, "b");
		CHECK_EQ(world_create(&w, &q[n]), n + 1);
	}
	CHECK_EQ(world_start(&w, 1), 0);
	CHECK_EQ(target(&q[0], 0), 0);
	CHECK_EQ(target(&q[0], 1), 0);
	heard_expect(0, 0, 0);
	CHECK_EQ(world_start(&w, 2), 0);
	heard_expect(1, 0x50, 1);		/* the other end has news: b is there */
	CHECK_EQ(target(&q[0], 0), 0);		/* not its own */
	CHECK_EQ(target(&q[0], 1), BELL(pcpu_of(3)->apic_id, 0, 2, 0x51));
	CHECK_EQ(target(&q[1], 0), BELL(pcpu_of(1)->apic_id, 0, 1, 0x50));
	CHECK_EQ(target(&q[1], 1), 0);
	/* Linux is no end of it */
	CHECK_EQ(world_call(QV_HC_RING, CHANNEL_PA), QV_ME_BELL);
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(0, 0x40)), QV_ME_BELL);
	heard_expect(0, 0, 0);
	CHECK_EQ(world_stop(&w, 2), 0);
	heard_expect(1, 0x50, 1);
	CHECK_EQ(target(&q[0], 1), 0);		/* shut before b's CPU returns */
	CHECK_EQ(target(&q[1], 0), BELL(pcpu_of(1)->apic_id, 0, 1, 0x50));
	while (world_call(QV_HC_RECLAIM, 2) == 1)
		;
	w.state[2] = QV_MON_NONE;
	memset(fake_ram + q[1].block_pa, 0x77, QV_HUGE);	/* it is Linux's again */
	CHECK_EQ(world_stop(&w, 1), 0);
	CHECK_EQ(target(&q[1], 0), 0x7777777777777777);
	heard_expect(0, 0, 0);
}

static void start_with_linux(struct world *w, struct qv_mon_create *q)
{
	listen(w);
	request(q, 0, "linux");
	CHECK_EQ(world_create(w, q), 1);
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(2, 0x41)), QV_ME_BELL);	/* not there yet */
	CHECK_EQ(world_start(w, 1), 0);
	heard_nothing();
}

static void to_linux_moves(void)
{
	static struct qv_mon_create q;
	struct world w;
	u64 there;

	start_with_linux(&w, &q);
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(2, 0x41)), 0);
	heard_expect(1, 0x41, 2);
	there = BELL(pcpu_of(2)->apic_id, 2, 0, 0x41);
	CHECK_EQ(target(&q, 1), there);
	me()->locks[LOCK_MANAGER] = 4;			/* another call is under way */
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(0, 0x42)), 0);
	me()->locks[LOCK_MANAGER] = 0;
	heard_expect(1, 0x42, 0);
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(2, 0x41)), 0);
	heard_nothing();
	/* a CPU of a cell, CPUs that do not exist, vectors of exceptions, other memory */
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(1, 0x41)), QV_ME_BELL);
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(FAKE_CPUS, 0x41)), QV_ME_BELL);
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(0xff, 0x41)), QV_ME_BELL);
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(2, 31)), QV_ME_BELL);
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(2, 1)), QV_ME_BELL);
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(2, 0x41) + QV_HUGE), QV_ME_BELL);
	CHECK_EQ(world_call(QV_HC_BELL, 2ull << 56 | 0x41), QV_ME_BELL);
	heard_expect(0, 0, 0);
	CHECK_EQ(target(&q, 1), there);
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(0, 0)), 0);
	CHECK_EQ(target(&q, 1), 0);
	heard_expect(0, 0, 0);
}

/* Before a CPU is caught for a cell, and after Linux has panicked, no bell goes to it */
static void to_linux_shut(void)
{
	static struct qv_mon_create q, other;
	struct world w;

	start_with_linux(&w, &q);
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(3, 0x41)), 0);
	watched = &q;
	shut_at_catch = false;
	request(&other, 1, "linux");
	other.num_channels = 0;
	CHECK_EQ(world_create(&w, &other), 2);
	CHECK(shut_at_catch);
	CHECK_EQ(target(&q, 1), 0);
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(3, 0x41)), QV_ME_BELL);
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(2, 0x41)), 0);
	CHECK_EQ(world_call(QV_HC_NOTE, QV_NOTE_PANIC), 0);
	CHECK_EQ(target(&q, 1), 0);
	CHECK_EQ(target(&q, 0), 0);
}

/* Linux rings cells at the rate of the slowest of them */
static void from_linux(void)
{
	static struct qv_mon_create q;
	struct world w;

	start_with_linux(&w, &q);
	fake_time();
	CHECK_EQ(world_call(QV_HC_BELL, to_linux(2, 0x41)), 0);
	heard_nothing();
	me()->boot.tsc_khz = 4000000000u;
	me()->manager.cells[1].bell_next = 0;
	CHECK_EQ(world_call(QV_HC_RING, CHANNEL_PA), 0);
	heard_expect(1, 0x50, 1);
	CHECK_EQ(world_call(QV_HC_RING, CHANNEL_PA), QV_ME_RATE);
	CHECK_EQ(world_call(QV_HC_RING, 0), QV_ME_BELL);
	CHECK_EQ(world_call(QV_HC_RING, CHANNEL_PA + 8), QV_ME_BELL);
	heard_expect(0, 0, 0);
	CHECK_EQ(world_stop(&w, 1), 0);
	me()->manager.cells[1].bell_next = 0;
	heard_nothing();
	CHECK_EQ(world_call(QV_HC_RING, CHANNEL_PA), 0);
	heard_expect(0, 0, 0);			/* a cell that has stopped gets none */
}

static u64 seen_odd;

static void during_ring(u32 low, u32 apic_id)
{
	seen_odd += me()->bells.uses[0] & 1;
	hear(low, apic_id);
}

/* The code of a cell's own instance */
static void in_a_cell(void)
{
	struct bells *b = &me()->bells;
	struct world w;

	listen(&w);
	fake_time();
	fake_become_cell();
	me()->boot.tsc_khz = 1000000000;
	me()->req.bell_rate = 1000;
	CHECK(!cell_bell(pcpu_of(0), 0));	/* it has no channels */
	me()->req.num_channels = 3;
	me()->req.num_dynamic = 1;
	me()->req.channels[1].page.ends = 4;
	b->target[2][1] = BELL(pcpu_of(2)->apic_id, 2, 0, 0x41);
	CHECK(cell_bell(pcpu_of(0), 2));	/* the channel in this window was closed */
	CHECK(!cell_bell(pcpu_of(0), 3));
	CHECK(!cell_bell(pcpu_of(0), ~0u));
	CHECK(cell_bell(pcpu_of(0), 1));
	heard_expect(0, 0, 0);			/* no end has a target */
	b->next = 0;
	fake_ipi = during_ring;
	seen_odd = 0;
	b->target[1][1] = BELL(pcpu_of(2)->apic_id, 2, 0, 0x41);
	b->target[1][3] = BELL(pcpu_of(3)->apic_id, 3, 0, 0x42);
	CHECK(cell_bell(pcpu_of(0), 1));
	heard_expect(2, 0x42, 3);
	CHECK_EQ(seen_odd, 2);
	CHECK_EQ(b->uses[0] & 1, 0);
}

UNIT_SUITE(channel_bells) = {
	{ "channel bells: between cells", between_cells },
	{ "channel bells: to Linux, which moves them", to_linux_moves },
	{ "channel bells: shut before a CPU is caught, and at a panic", to_linux_shut },
	{ "channel bells: from Linux, at a limited rate", from_linux },
	{ "channel bells: a cell rings", in_a_cell },
	{ 0 }
};
