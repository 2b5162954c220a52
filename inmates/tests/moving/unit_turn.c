// SPDX-License-Identifier: GPL-2.0-only
/* The turns by which a cell takes part in one move at a time. */
#include <string.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../../quest/migration/turn.h"
#include "../../quest/user/include/quest/errors.h"
#include "otherend.h"
#include "unit.h"
#include "world.h"

#define US	1000000u

static struct mig_link links[12], *a, *b;
static unsigned int used;
static struct {
	bool silent;
	enum mig_kind kind;
	int error;
} answer;
static bool both;
static int result;
static uint64_t took;		/* us */

static bool answers(struct mig_stream *s)
{
	s->message = (struct mig_message){ .kind = answer.kind, .error = answer.error };
	return !answer.silent;
}

static void beginner(void *unused)
{
	uint64_t since = rdtsc();

	(void)unused;
	result = turn_begin(a, both);
	took = timer_to_us(rdtsc() - since);
}

/* turn_begin() of link a, which may block. */
static int begins(bool of_both)
{
	both = of_both;
	otherend_sent.kind = 0;
	world_thread(beginner);
	world_run();
	return result;
}

static void returner(void *unused)
{
	(void)unused;
	turn_return(a);
}

static void do_nothing(void)
{
}

/* Two links that never had the turn. */
static void begin(void)
{
	world_begin(1, do_nothing);
	a = &links[used++];
	b = &links[used++];
	answer.silent = false;
	answer.kind = MSG_TURN;
	answer.error = 0;
	otherend_answer = answers;
}

TEST(one_link_at_a_time_has_the_turn)
{
	begin();
	CHECK(turn_take(a, US) && turn_take(a, US));
	CHECK(!turn_take(b, US));
	turn_end(b);
	CHECK(!turn_take(b, US));
	turn_end(a);
	/* the other one has asked, so it comes first */
	CHECK(!turn_take(a, US));
	CHECK(turn_take(b, US));
	turn_end(b);
	CHECK(turn_take(a, US));
	turn_end(a);
}

TEST(turn_ends_with_its_time)
{
	begin();
	CHECK(turn_take(a, 0));
	CHECK(turn_take(b, US));
	turn_end(b);
}

TEST(source_that_meets_a_busy_cell_gives_up_both_turns)
{
	begin();
	answer.error = -EBUSY;
	CHECK_EQ(begins(true), -EAGAIN);
	CHECK_EQ(otherend_sent.kind, MSG_ASK_TURN);
	CHECK(took >= 5000);
	CHECK(turn_take(b, US));
	/* its own cell is busy: the other one is not asked */
	CHECK_EQ(begins(true), -EAGAIN);
	CHECK_EQ(otherend_sent.kind, 0);
	turn_end(b);
}

TEST(source_of_a_silent_or_damaged_destination_keeps_no_turn)
{
	begin();
	answer.silent = true;
	CHECK_EQ(begins(true), -ETIMEDOUT);
	CHECK(turn_take(b, US));
	turn_end(b);
	answer.silent = false;
	answer.kind = MSG_LOAD;
	CHECK_EQ(begins(true), -EPROTO);
	CHECK(turn_take(b, US));
	turn_end(b);
}

TEST(turns_of_both_cells_are_taken_and_returned)
{
	begin();
	CHECK_EQ(begins(true), 0);
	CHECK(!turn_take(b, US));
	world_thread(returner);
	world_run();
	CHECK_EQ(otherend_sent.kind, MSG_END_TURN);
	CHECK(turn_take(b, US));
	turn_end(b);
	/* with MIG_STRICT the destination's turn has come with its terms */
	CHECK_EQ(begins(false), 0);
	CHECK_EQ(otherend_sent.kind, 0);
	turn_end(a);
}

static int asks(struct mig_link *l, enum mig_kind kind)
{
	l->stream.message.kind = kind;
	turn_answer(l);
	CHECK_EQ(otherend_sent.kind, MSG_TURN);
	return otherend_sent.error;
}

TEST(destination_answers_whether_it_is_busy)
{
	begin();
	CHECK_EQ(asks(a, MSG_ASK_TURN), 0);
	CHECK_EQ(asks(b, MSG_ASK_TURN), -EBUSY);
	CHECK_EQ(asks(a, MSG_END_TURN), 0);
	CHECK_EQ(asks(b, MSG_ASK_TURN), 0);
	CHECK_EQ(asks(b, MSG_END_TURN), 0);
}

/* With MIG_STRICT, two cells that ask each other would else keep each other's turn without end. */
TEST(source_that_cannot_begin_returns_the_turn_that_came_with_the_terms)
{
	begin();
	CHECK(turn_take(b, US));
	CHECK_EQ(begins(false), -EAGAIN);
	CHECK_EQ(otherend_sent.kind, MSG_END_TURN);
	CHECK(took >= 5000);
	turn_end(b);
}

static bool b_had_turn;

/* Link a asks again and again while it has the turn, and link b asks as often. */
static void keeper(void *unused)
{
	unsigned int i;

	(void)unused;
	for (i = 0; i < 1200 && !b_had_turn; i++) {
		(void)turn_take(a, TURN_US);
		thread_sleep_us(10000);
		b_had_turn = turn_take(b, US);
	}
}

TEST(no_link_makes_its_turn_longer)
{
	begin();
	b_had_turn = false;
	world_thread(keeper);
	world_run();
	CHECK(b_had_turn);
	turn_end(b);
}
