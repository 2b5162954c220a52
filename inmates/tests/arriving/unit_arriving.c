// SPDX-License-Identifier: GPL-2.0-only
/* Programs that come from a source, which may be hostile, in the world of world.h. */
#include <string.h>
#include "../../quest/kernel/process/process.h"
#include "../../quest/migration/turn.h"
#include "../../quest/user/include/quest/errors.h"
#include "unit.h"
#include "world.h"

TEST(program_comes_in_messages_of_any_size)
{
	static const unsigned int parts[] = { 1, 7, 4096, ITEM };
	unsigned int i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		unit_case("%u bytes", parts[i]);
		world_begin(true);
		world_part = parts[i] < world_part ? parts[i] : world_part;
		world_program(i < 2 ? 2 : 200, PAGE_DATA, 1, i < 2);
		world_run();
		CHECK_EQ(world_answer.kind, MSG_RUNNING);
		CHECK_EQ(world_runs, 1);
		CHECK(world_process()->state == PROCESS_LIVE);
	}
}

/* What is kept for the shell stays free, whichever pages a source sends. */
TEST(program_that_comes_leaves_the_kept_pages)
{
	static const struct { unsigned int pages; enum mig_rights rights; unsigned int gap; }
	programs[] = {
		{ RAM_PAGES + 100, PAGE_CODE, 1 }, { RAM_PAGES + 100, PAGE_DATA, 1 },
		{ RAM_PAGES + 300, PAGE_DATA, 100 }, { ARENA_PAGES_HERE, PAGE_DATA, 500 },
	};
	unsigned int i;

	for (i = 0; i < 2 * sizeof(programs) / sizeof(programs[0]); i++) {
		unit_case("program %u, own arena %u", i / 2, i % 2);
		world_begin(i % 2);
		world_program(programs[i / 2].pages, programs[i / 2].rights, programs[i / 2].gap,
			      true);
		world_run();
		CHECK(world_answers && world_least >= SHELL_PAGES);
	}
}
