// SPDX-License-Identifier: GPL-2.0-only
/* The example of channel-format.md, which has no code of the library, reads the library's items. */
#include "unit.h"
#include "world.h"
#include "../examples/lastvalue.c"

static void test_example_reads_the_last_value(void)
{
	struct world w = world_make(QV_CHAN_FOUR_SLOT, 16, 1, 3, 0, 0);
	uint64_t item[2] = { 0 }, n;
	struct last_value reader;
	struct qv_end writer;

	CHECK_EQ(last_value_open(&reader, w.window, w.plan.length, 2), 0);
	CHECK_EQ(last_value_open(&reader, w.window, w.plan.length, 3), -1);
	CHECK_EQ(last_value_open(&reader, w.window, 4096, 2), -1);
	CHECK_EQ(last_value_open(&reader, w.window, w.plan.length, 2), 0);
	CHECK_EQ(last_value_read(&reader, item), 0);
	CHECK_EQ(world_attach(&w, &writer, 0), QV_CHAN_DONE);
	CHECK_EQ(last_value_read(&reader, item), 0);
	for (n = 1; n < 20; n++) {
		uint64_t value[2] = { n, ~n };

		CHECK_EQ(qv_end_write(&writer, value, sizeof(value)), QV_CHAN_DONE);
		CHECK_EQ(last_value_read(&reader, item), n);
		CHECK(item[0] == n && item[1] == ~n);
	}
	world_section(&w, 0)->count = 3;
	CHECK_EQ(last_value_read(&reader, item), -1);
	manage_start(w.window, 0);
	CHECK_EQ(last_value_read(&reader, item), 0);
	free(w.window);
}

UNIT_SUITE(example) = {
	{ "example: the program of the page reads the last value",
	  test_example_reads_the_last_value },
	{ 0 }
};
