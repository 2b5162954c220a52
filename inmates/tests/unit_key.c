// SPDX-License-Identifier: GPL-2.0-only
/* How the library waits for the answer to a request for a channel at run time. */
#include <inmate/cell.h>
#include "unit.h"

static struct qv_info info = { .dynamic = 1, .tsc_khz = 1000 };
static uint64_t pauses, paused_us, longest, calls;
static uint64_t refused, unanswered;	/* number of calls that find no room, or no answer */

const struct qv_info *cell_info(void)
{
	return &info;
}

uint32_t cell_call_both(uint32_t number, uint64_t *a, uint64_t b)
{
	(void)b;
	calls++;
	if (number == QV_CALL_ANSWER && unanswered) {
		unanswered--;
		return (uint32_t)QV_KEY_PENDING;
	}
	if (number == QV_CALL_ANSWER) {
		*a = 0x1000;
		return 3;
	}
	if (refused) {
		refused--;
		return (uint32_t)QV_KEY_RATE;
	}
	return 0;
}

static void pause_by(uint64_t us)
{
	pauses++;
	paused_us += us;
	if (us > longest)
		longest = us;
}

static int open(uint64_t *address)
{
	struct qv_chan_page page = { 0 };

	cell_key_sleep_by(pause_by);
	return cell_key_open(&page, 0, address);
}

TEST(key_takes_an_answer_that_is_there_without_a_pause)
{
	uint64_t address = 0;

	CHECK_EQ(open(&address), 3);
	CHECK_EQ(address, 0x1000);
	CHECK_EQ(pauses, 0);
	CHECK_EQ(calls, 2);
}

TEST(key_pauses_are_twice_as_long_each_time_up_to_a_limit)
{
	uint64_t address = 0;

	unanswered = 4;
	CHECK_EQ(open(&address), 3);
	CHECK_EQ(pauses, 4);
	CHECK_EQ(paused_us, 5 + 10 + 20 + 40);
	unanswered = 100;
	CHECK_EQ(open(&address), 3);
	CHECK_EQ(longest, 100000);
}

/* On a slow emulator an answer may need seconds of Linux's CPU. */
TEST(key_waits_a_minute_with_few_calls)
{
	uint64_t address = 0;

	unanswered = UINT64_MAX;
	CHECK((int64_t)open(&address) == QV_KEY_PENDING);
	CHECK(paused_us >= 60000000 && paused_us < 61000000);
	CHECK(calls < 1000);
	unanswered = 0;
	CHECK_EQ(cell_key_answer(&address), 3);
}

TEST(key_that_is_refused_for_its_rate_is_sent_again)
{
	uint64_t address = 0;

	refused = 8;
	CHECK_EQ(open(&address), 3);
	CHECK_EQ(pauses, 8);
	refused = UINT64_MAX;
	CHECK((int64_t)open(&address) == QV_KEY_RATE);
	refused = 0;
}

/* Without a function to sleep by, it spins by the TSC. */
TEST(key_spins_without_a_function_to_sleep_by)
{
	uint64_t address = 0;
	struct qv_chan_page page = { 0 };

	cell_key_sleep_by(NULL);
	unanswered = 5;
	CHECK_EQ(cell_key_open(&page, 0, &address), 3);
	CHECK_EQ(pauses, 0);
}

TEST(key_is_denied_in_a_cell_without_run_time_channels)
{
	uint64_t address = 0;

	info.dynamic = 0;
	CHECK((int64_t)open(&address) == QV_KEY_DENIED);
	CHECK_EQ(calls, 0);
}
