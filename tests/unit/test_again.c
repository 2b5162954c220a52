// SPDX-License-Identifier: GPL-2.0-only
/* driver/cross/again.h: when the driver tries a hypercall again */
#include "core/cpu.h"
#include "cross/again.h"
#include "unit.h"

#define DEADLINE	2000

/* Makes tries until one is the last, with sleeps of @sleep between them. Returns the number */
static u32 tries(u64 sleep, u32 refused)
{
	u64 begin = 0;
	u32 n = 0;

	while (call_again(n++ < refused ? QV_ME_RATE : QV_ME_OK, begin, DEADLINE))
		begin += sleep;
	return n;
}

static void late_thread(void)
{
	/* it slept longer than the deadline: it must find that it may ring now */
	CHECK_EQ(tries(3 * DEADLINE, 1), 2);
	CHECK_EQ(tries(DEADLINE, 1), 2);
}

static void patience(void)
{
	CHECK_EQ(tries(1, 0), 1);
	CHECK_EQ(tries(1, 5), 6);
	/* the deadline ends it */
	CHECK_EQ(tries(1, DEADLINE * 2), DEADLINE + 1);
	CHECK_EQ(tries(3 * DEADLINE, 9), 2);
	CHECK(!call_again(QV_ME_STATE, 0, DEADLINE));
	CHECK(call_again(QV_ME_BUSY, 0, DEADLINE));
}

UNIT_SUITE(again) = {
	{ "again: a thread that slept past the deadline tries once more", late_thread },
	{ "again: other tries end at the deadline, or at another answer", patience },
	{ 0 }
};
