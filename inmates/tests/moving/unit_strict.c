// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long MIG_STRICT waits for its moment, and which error it ends with. The test answers for the
 * other cell and for costs.c and moment.c; the program and the clock are those of world.h.
 */
#include <string.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../../quest/migration/costs.h"
#include "../../quest/migration/moment.h"
#include "../../quest/migration/pack.h"
#include "../../quest/migration/strict.h"
#include "../../quest/user/include/quest/errors.h"
#include "otherend.h"
#include "unit.h"
#include "world.h"

#define MS		1000u		/* us */
#define PERIOD_MS	100		/* of the program's VCPU (world.c) */

static struct qv_end end;
static struct mig_link l;
static unsigned int busy, questions;	/* so many answers say that the other cell is busy */
static uint64_t slack, own, pack, there;	/* cycles */
static int pid, answer;
static uint64_t took, watched;		/* us until the answer, and of looks for a moment */

static bool terms(struct mig_stream *s)
{
	const struct mig_terms terms = { .wait = there };

	CHECK_EQ(otherend_sent.kind, MSG_ASK);
	questions++;
	s->message = (struct mig_message){
		.kind = MSG_TERMS, .bytes = sizeof(terms), .error = busy ? -EBUSY : 0
	};
	busy -= busy > 0;
	memcpy(s->slot + s->at, &terms, sizeof(terms));
	return true;
}

uint64_t mig_cost(enum mig_side side, const struct mig_size *size)
{
	(void)side;
	(void)size;
	return pack;
}

uint64_t mig_wait(struct admission_entry set[SCHED_VCPUS], uint64_t demand, bool ready)
{
	(void)set;
	(void)demand;
	(void)ready;
	return own;
}

uint64_t mig_slack(const struct process *p, uint64_t now)
{
	(void)p;
	(void)now;
	return slack;
}

struct mig_size mig_size_of(const struct mig_header *h)
{
	(void)h;
	return (struct mig_size){ 0 };
}

static void wait_in_ring3(void)
{
	wait_on(&process_current()->words);
}

static void waiter(void *limit)
{
	struct process *p = process_find(pid);
	uint64_t begin = rdtsc();

	p->wish.link = 1;
	p->wish.until = limit ? begin + timer_from_us(*(unsigned int *)limit) : UINT64_MAX;
	answer = mig_wait_for_moment(&l, pid);
	took = timer_to_us(rdtsc() - begin);
	watched = timer_to_us(p->wish.watched);
	process_end(p, 0);
}

static unsigned int limit_us;

static void waiter_with_limit(void *unused)
{
	(void)unused;
	waiter(limit_us ? &limit_us : NULL);
}

/* Waits with a limit in us; 0: without a limit. */
static int wait_for(unsigned int limit)
{
	limit_us = limit;
	world_thread(waiter_with_limit);
	world_run();
	world_check();
	return answer;
}

/* A program that can be away for 50 ms, and a move of 20 ms */
static void begin(void)
{
	world_begin(1, wait_in_ring3);
	world_sleep_in_order();
	end.page.item = 1 << 20;
	l = (struct mig_link){ .names_pages = true, .stream.end = &end };
	otherend_answer = terms;
	busy = questions = 0;
	slack = timer_from_us(50 * MS);
	own = there = timer_from_us(10 * MS);
	pack = timer_from_us(1);
	pid = world_program(NULL, 2, -1)->pid;
}

TEST(strict_move_takes_a_moment_that_is_long_enough)
{
	begin();
	CHECK(!wait_for(0) && questions == 1 && took < 10 * MS);
}

TEST(strict_move_waits_while_the_other_cell_is_busy)
{
	begin();
	busy = 300;
	CHECK_EQ(wait_for(0), 0);
	CHECK_EQ(questions, 301);
	CHECK(took >= 3000 * MS);
}

TEST(strict_move_ends_if_no_moment_has_come)
{
	begin();
	slack = timer_from_us(20 * MS);
	CHECK(wait_for(0) == -ENOSLACK);
	CHECK(took >= 10 * PERIOD_MS * MS && took < 11 * PERIOD_MS * MS);
	begin();
	slack = 0;
	CHECK(wait_for(500 * MS) == -ETIMEDOUT && took >= 500 * MS && took < 600 * MS);
	begin();
	slack = 0;
	CHECK(wait_for(2000 * MS) == -ENOSLACK && took >= 2000 * MS && took < 2100 * MS);
}

TEST(strict_move_ends_at_once_if_it_can_never_be)
{
	begin();
	there = UINT64_MAX;
	CHECK(wait_for(0) == -ENOSLACK && took < 10 * MS);
	begin();
	own = UINT64_MAX;
	CHECK(wait_for(0) == -ENOSLACK && took < 10 * MS);
	begin();
	pack = timer_from_us(1 * MS) + 1;	/* more than the budget of the thread's VCPU */
	CHECK(wait_for(0) == -ENOSLACK && took < 10 * MS);
}

/* A program without a moment does not keep the link from the wishes of others. */
TEST(strict_move_ends_its_turn_on_the_link)
{
	begin();
	slack = 0;
	CHECK(wait_for(3600000 * MS) == -EAGAIN && took >= 9900 * MS && took < 10100 * MS);
	CHECK(watched >= 9900 * MS);
	begin();
	busy = 1000000;
	CHECK(wait_for(0) == -EAGAIN && took < 10100 * MS);
}
