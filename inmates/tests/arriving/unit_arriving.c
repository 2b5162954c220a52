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

/* The pages that are kept for the shell stay free, whichever pages a source sends. */
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

/* The files of both cells can name different channels. Their bytes are not those of the program. */
TEST(program_in_another_arena_does_not_come)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		world_begin(true);
		world_link.arena_session = i ? 0 : world_link.arena_session + 1;
		world_program(5, PAGE_DATA, 1, true);
		world_run();
		CHECK(world_answer.kind == MSG_REFUSED && world_answer.error == -EXDEV);
		CHECK(!world_process());
		world_begin(true);
		world_link.arena_session = 0;
		world_program(5, PAGE_DATA, 1, false);
		world_run();
		CHECK_EQ(world_answer.kind, MSG_RUNNING);
	}
}

/* ---- a source that writes messages without end ---- */

static unsigned int messages;

/* The first message has the header; those after it have nothing. */
static bool write_nothing(void)
{
	messages += world_send(messages ? MSG_MORE : MSG_BEGIN, messages ? 0 : world_part);
	return messages < 1000 && (!world_answers || world_answer.kind == MSG_ACCEPTED);
}

TEST(source_that_sends_nothing_is_refused)
{
	world_begin(true);
	world_program(300, PAGE_DATA, 1, false);
	messages = 0;
	world_source = write_nothing;
	world_run();
	CHECK(messages < 10 && world_answer.kind == MSG_REFUSED);
	CHECK(!world_process());
}

/* A byte each time. The program is killed here after some of them. */
static bool write_slowly(void)
{
	messages += world_send(messages ? MSG_MORE : MSG_BEGIN, messages ? 1 : world_part);
	if (messages == 100)
		world_process()->ending = true;
	return messages < 1000 && (!world_answers || world_answer.kind == MSG_ACCEPTED);
}

TEST(program_that_comes_slowly_can_be_killed)
{
	world_begin(true);
	world_program(300, PAGE_DATA, 1, false);
	messages = 0;
	world_source = write_slowly;
	world_run();
	CHECK(messages < 110 && world_answer.kind == MSG_REFUSED && world_answer.error == -EINTR);
	CHECK(!world_process());
}

/*
 * The bound of MIG_STRICT is for one message. A source that sends many could else make the estimate
 * so long that no other program is taken with MIG_STRICT any longer.
 */
TEST(costs_are_learned_from_one_message)
{
	world_begin(true);
	world_program(20, PAGE_DATA, 1, true);
	world_run();
	CHECK(world_runs == 1 && world_answers == 1 && world_learned == 1);
	world_begin(true);
	world_part = 100;
	world_program(20, PAGE_DATA, 1, true);
	world_run();
	CHECK(world_runs == 1 && world_answers > 1 && world_learned == 0);
}

/* ---- questions during the turn of another link ---- */

static uint64_t until;

static bool ask_again(void)
{
	(void)world_send(MSG_ASK_LOAD, 0);
	return rdtsc() < until;
}

TEST(questions_are_seldom_answered_while_another_link_has_the_turn)
{
	static const struct mig_link other;

	world_begin(true);
	world_program(1, PAGE_DATA, 1, true);
	world_source = ask_again;
	world_wait_us = 1;
	until = rdtsc() + 1000000 * US;
	CHECK(turn_take(&other, 1000000));
	world_run();
	CHECK(world_answers > 50 && world_answers <= 202);
	turn_end(&other);
	until = rdtsc() + 10000 * US;
	world_run();
	CHECK(world_answers > 1000);
}

/* ---- anything ---- */

static unsigned int left;

static bool write_anything(void)
{
	static const enum mig_kind kinds[] = {
		0, MSG_BEGIN, MSG_MORE, MSG_MORE, MSG_ABORT, MSG_ASK, MSG_ASK_LOAD, MSG_ASK_TURN,
		MSG_END_TURN, MSG_TURN, 1000,
	};
	enum mig_kind usual = messages ? MSG_MORE : MSG_BEGIN;

	if (!rnd_below(4))
		world_spoil();
	messages += world_send(rnd_below(8) ? usual : kinds[rnd_below(11)],
			       (unsigned int)(rnd_below(2) ? world_part : rnd_below(5000)));
	if (!rnd_below(100) && world_process())
		world_process()->ending = true;
	if (world_answer.kind == MSG_REFUSED || world_answer.kind == MSG_RUNNING)
		messages = 0;
	if (--left)
		return true;
	/* a source in order follows; the programs of the other one are gone, or run */
	world_restart();
	world_program(3, PAGE_DATA, 1, false);
	world_source = world_send_all;
	return true;
}

/* Nothing that a source writes harms the cell: the next program comes. */
TEST(link_survives_what_a_source_writes)
{
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		unit_case("case %u", i);
		world_begin(i % 2);
		world_program(1 + (unsigned int)rnd_below(40), (enum mig_rights)rnd_below(3), 1,
			      rnd_below(2));
		world_source = write_anything;
		messages = 0;
		left = 1 + (unsigned int)rnd_below(60);
		world_run();
		CHECK(world_least >= SHELL_PAGES);
		CHECK_EQ(world_answer.kind, MSG_RUNNING);
		CHECK_EQ(world_runs, 1);
	}
}
