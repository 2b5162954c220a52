// SPDX-License-Identifier: GPL-2.0-only
/* Bells of channels at run time: manage/parts/channel_keys.c. The cells are in keys_world.h. */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "heard.h"
#include "keys_world.h"
#include "manage/manage.h"
#include "unit.h"

static void listen(void)
{
	keys_world_open(2);
	fake_ipi = heard_ipi;
	heard_nothing();
}

static s32 open_with(u32 n, u32 key, const char *first, const char *second, u32 vector, u32 cpu)
{
	struct qv_mon_channel *ask = &keys_cell(n)->cell.post.ask;

	keys_describe(ask, key, first, second, first[0] != 'a' + (int)n);
	ask->page.flags |= QV_CHAN_BELL;
	ask->bell_vector = vector;
	ask->bell_cpu = cpu;
	return keys_post(n, QV_CALL_OPEN);
}

static u64 target(u32 n, u32 window, u32 end)
{
	return keys_cell(n)->bells.target[window][end];
}

static void between_cells(void)
{
	listen();
	CHECK_EQ(open_with(0, 7, "a", "b", 31, 0), QV_KEY_MALFORMED);
	CHECK_EQ(open_with(0, 7, "a", "b", 0x60, 1), QV_KEY_MALFORMED);	/* it has one CPU */
	CHECK_EQ(open_with(0, 7, "a", "b", 0x60, 0), 0);
	CHECK_EQ(target(0, 0, 0) | target(0, 0, 1), 0);
	heard_expect(0, 0, 0);
	/* b has another channel in its first window */
	CHECK_EQ(open_with(1, 6, "a", "b", 0, 0), 0);
	CHECK_EQ(open_with(1, 7, "a", "b", 0x61, 0), 1);
	heard_expect(1, 0x60, 1);		/* a has news: b is there */
	CHECK_EQ(target(0, 0, 0), 0);		/* not its own */
	CHECK_EQ(target(0, 0, 1), BELL(pcpu_of(2)->apic_id, 0, 2, 0x61));
	CHECK_EQ(target(1, 1, 0), BELL(pcpu_of(1)->apic_id, 0, 1, 0x60));
	CHECK_EQ(target(1, 1, 1) | target(1, 0, 0) | target(1, 0, 1), 0);
	/* Linux is no end of it */
	CHECK_EQ(world_call(QV_HC_BELL, POOL_PA(0, 0) | 0x50), QV_ME_BELL);
	CHECK_EQ(world_call(QV_HC_RING, POOL_PA(0, 0)), QV_ME_BELL);
	CHECK_EQ(keys_close(0, 0), 0);
	heard_expect(1, 0x61, 2);		/* b has news: a has left */
	CHECK_EQ(target(1, 1, 0), 0);
	/* a's window has a target of the old channel, and no channel: cell_bell() */
	CHECK_EQ(keys_cell(0)->req.channels[0].page.ends, 0);
	CHECK_EQ(open_with(0, 9, "a", "linux", 0, 0), 0);
	CHECK_EQ(keys_cell(0)->req.channels[0].page.ends, 2);
	CHECK_EQ(target(0, 0, 0) | target(0, 0, 1), 0);
	heard_expect(0, 0, 0);
}

/* Of the two cells with a channel, the one that made it goes first */
static void maker_goes(void)
{
	listen();
	CHECK_EQ(open_with(0, 7, "a", "b", 0x60, 0), 0);
	CHECK_EQ(open_with(1, 7, "a", "b", 0x61, 0), 0);
	heard_nothing();
	CHECK_EQ(world_call(QV_HC_STOP, 1), 0);
	heard_expect(1, 0x61, 2);
	CHECK_EQ(target(1, 0, 0), 0);		/* shut before the CPU returns */
	keys_destroy(0);
	memset(fake_ram + keys_q[0].block_pa, 0x77, QV_HUGE);	/* it is Linux's again */
	heard_nothing();
	CHECK_EQ(keys_close(1, 0), 0);
	CHECK_EQ(target(0, 0, 1), 0x7777777777777777);
	heard_expect(0, 0, 0);
	CHECK(keys_linux_owns(POOL_PA(0, 0)));
	CHECK_EQ(world_call(QV_HC_BELL, POOL_PA(0, 0) | 0x50), QV_ME_BELL);
}

static void with_linux(void)
{
	const u64 pa = POOL_PA(0, 0);
	struct channel *r;

	listen();
	CHECK_EQ(world_call(QV_HC_BELL, pa | 0x50), QV_ME_BELL);	/* no channel is there */
	CHECK_EQ(world_call(QV_HC_BELL, 0x50), QV_ME_BELL);		/* nor in a free record */
	CHECK_EQ(open_with(0, 7, "a", "linux", 0x60, 0), 0);
	CHECK(world_call(QV_HC_KEY, 1 | 7 << 8) < QV_ME_BASE);
	CHECK_EQ(world_call(QV_HC_BELL, pa | 0x50), 0);
	heard_expect(1, 0x50, 0);
	CHECK_EQ(target(0, 0, 1), BELL(pcpu_of(0)->apic_id, 0, 0, 0x50));
	CHECK_EQ(world_call(QV_HC_RING, pa), 0);
	heard_expect(1, 0x60, 1);
	bells_shut(pcpu_of(0), 1);		/* before that CPU is caught for a cell */
	CHECK_EQ(target(0, 0, 1), 0);
	CHECK_EQ(world_call(QV_HC_BELL, pa | 0x51), 0);
	/* the cell leaves, then Linux: its bell is forgotten with the channel */
	r = channel_at(pa);
	CHECK_EQ(keys_close(0, 0), 0);
	CHECK_EQ(r->bell[0], 0);
	CHECK_EQ(world_call(QV_HC_CHANNEL, pa), 0);
	CHECK_EQ(r->bell[1], 0);
	CHECK_EQ(r->is.page.ends, 0);
	CHECK_EQ(r->is.pa[0], pa);
	CHECK_EQ(open_with(0, 8, "a", "linux", 0x60, 0), 0);
	CHECK_EQ(target(0, 0, 1), 0);
	CHECK_EQ(world_call(QV_HC_STOP, 1), 0);
	CHECK_EQ(r->bell[0], 0);
}

UNIT_SUITE(key_bells) = {
	{ "key bells: between cells", between_cells },
	{ "key bells: the cell that made the channel goes first", maker_goes },
	{ "key bells: with Linux", with_linux },
	{ 0 }
};
