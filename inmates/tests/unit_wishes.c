// SPDX-License-Identifier: GPL-2.0-only
/* The turns of programs that wish to move, and of questions about the load of the other cell. */
#include <string.h>
#include "../quest/kernel/process/process.h"
#include "../quest/migration/wishes.h"
#include "../quest/user/include/quest/errors.h"
#include "unit.h"

#define LINK	1
#define OTHER	2

static struct process programs[PROCESS_MAX];
static unsigned int waits;

struct process *process_at(int i)
{
	return programs[i].state == PROCESS_FREE ? NULL : &programs[i];
}

struct process *process_find(int pid)
{
	int i;

	for (i = 0; i < PROCESS_MAX; i++)
		if (programs[i].state != PROCESS_FREE && programs[i].pid == pid)
			return &programs[i];
	return NULL;
}

void wake_all(struct wait_queue *q)
{
	(void)q;
}

/* A program of slot 7 comes while the link waits. */
void wait_on(struct wait_queue *q)
{
	(void)q;
	waits++;
	programs[7].state = PROCESS_LIVE;
	CHECK_EQ(wishes_add(&programs[7], LINK, UINT64_MAX, false), 0);
}

static void wish(int slot, int link)
{
	programs[slot].state = PROCESS_LIVE;
	CHECK_EQ(wishes_add(&programs[slot], link, UINT64_MAX, false), 0);
}

/* Serves the next wish, which fails, and comes again at once. */
static void serve(int slot)
{
	struct process *p = wishes_next(LINK);

	CHECK(p == &programs[slot]);
	wishes_fail(&programs[slot], -EADMIT);
	wish(slot, LINK);
}

static void begin(void)
{
	memset(programs, 0, sizeof(programs));
	waits = 0;
}

TEST(question_of_load_has_its_turn_between_wishes)
{
	int i;

	begin();
	wish(3, LINK);
	serve(3);
	for (i = 0; i < 3; i++) {
		wishes_ask(LINK);
		CHECK(!wishes_next(LINK));
		/* nor do questions without end keep programs from their turn */
		wishes_ask(LINK);
		serve(3);
	}
	CHECK(!wishes_next(LINK));
	serve(3);
	serve(3);
	CHECK_EQ(waits, 0);
}

TEST(program_that_wishes_again_waits_for_the_others)
{
	begin();
	wish(5, LINK);
	wish(9, OTHER);
	wish(20, LINK);
	serve(5);
	serve(20);
	serve(5);
	serve(20);
	CHECK(wishes_next(OTHER) == &programs[9]);
	CHECK_EQ(waits, 0);
}

/* The turns of one link's programs do not depend on those of another link. */
TEST(programs_of_each_link_have_their_turns)
{
	int i;

	begin();
	wish(5, LINK);
	wish(9, OTHER);
	wish(20, LINK);
	for (i = 0; i < 3; i++) {
		CHECK(wishes_next(OTHER) == &programs[9]);
		serve(5);
		CHECK(wishes_next(OTHER) == &programs[9]);
		serve(20);
	}
}

TEST(link_waits_for_a_wish_or_a_question)
{
	begin();
	programs[7].state = PROCESS_FREE;
	serve(7);
	CHECK_EQ(waits, 1);
	wishes_fail(&programs[7], 0);
	wishes_ask(LINK);
	CHECK(!wishes_next(LINK));
	CHECK_EQ(waits, 1);
}

TEST(wish_ends_with_its_time)
{
	begin();
	programs[4].state = PROCESS_LIVE;
	CHECK_EQ(wishes_add(&programs[4], LINK, 1, false), 0);
	CHECK_EQ(wishes_add(&programs[4], LINK, UINT64_MAX, false), -EBUSY);
	wish(6, LINK);
	serve(6);
	CHECK_EQ(programs[4].wish.link, 0);
	CHECK_EQ(programs[4].wish.error, -ETIMEDOUT);
}
