// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread of a link that sends programs, in the world of world.h. The test answers for the other
 * cell, and for the files that describe a program.
 */
#include <string.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../../quest/kernel/process/exit.h"
#include "../../quest/migration/channels.h"
#include "../../quest/migration/check.h"
#include "../../quest/migration/costs.h"
#include "../../quest/migration/load.h"
#include "../../quest/migration/pack.h"
#include "../../quest/migration/wishes.h"
#include "../../quest/mm/arena.h"
#include "../../quest/user/include/quest/errors.h"
#include "../../quest/user/include/quest/types.h"
#include "otherend.h"
#include "unit.h"
#include "world.h"

#define HERE	0			/* the link */
#define OTHER	1			/* a link whose thread does not run */
#define MS	1000u			/* us */

static struct qv_end end;
static struct mig_link l;
static int pid;
static unsigned int begins, more;	/* programs that the other cell was sent, other messages */
static unsigned int learned;
static void (*before_answer)(void);	/* while the link awaits an answer */

/* ---- in place of files that need memory of programs ---- */

void mig_pack(struct mig_header *h, const struct process *p)
{
	(void)p;
	memset(h, 0, sizeof(*h));
}

bool mig_has_its_vcpus(const struct program_image *image)
{
	return image;
}

int mig_channels_pack(struct mig_link *link, const struct process *p)
{
	(void)link;
	(void)p;
	return 0;
}

uint64_t mig_used(void)
{
	return 0;
}

void mig_cost_learn(enum mig_side side, const struct mig_size *size, uint64_t used)
{
	(void)side;
	(void)size;
	(void)used;
	learned++;
}

void mig_load_exchange(struct mig_link *link, int number)
{
	(void)link;
	(void)number;
}

uint64_t space_next_page(const struct space *s, uint64_t va, uint64_t *entry)
{
	(void)s;
	(void)va;
	(void)entry;
	return 0;
}

bool arena_has(uint64_t page, uint64_t *at)
{
	(void)page;
	(void)at;
	return false;
}

void print(const char *fmt, ...)
{
	(void)fmt;
}

/* ---- the other cell ---- */

static bool answers(struct mig_stream *s)
{
	static const enum mig_kind kinds[] = {
		[MSG_ASK_TURN] = MSG_TURN, [MSG_END_TURN] = MSG_TURN, [MSG_BEGIN] = MSG_ACCEPTED,
		[MSG_MORE] = MSG_ACCEPTED, [MSG_ABORT] = MSG_REFUSED,
	};

	if (before_answer)
		before_answer();
	begins += otherend_sent.kind == MSG_BEGIN;
	more += otherend_sent.kind == MSG_MORE;
	s->message = (struct mig_message){
		.kind = otherend_sent.last ? MSG_RUNNING : kinds[otherend_sent.kind]
	};
	return true;
}

static void sender(void *unused)
{
	(void)unused;
	mig_source_work(&l, HERE);
}

static void be_there(void)
{
	(void)wait_on_until(&process_current()->words, rdtsc() + timer_from_us(MS));
}

static struct process *begin(void)
{
	world_begin(1, be_there);
	world_sleep_in_order();
	end.page.item = 1 << 20;
	l = (struct mig_link){ .names_pages = true, .stream.end = &end, .outgoing = true };
	otherend_answer = answers;
	before_answer = NULL;
	begins = more = learned = 0;
	pid = world_program(NULL, 2, -1)->pid;
	process_find(pid)->background = true;
	world_thread(sender);
	return process_find(pid);
}

TEST(source_moves_a_program_that_wishes_to)
{
	struct process *p = begin();

	CHECK_EQ(wishes_add(p, HERE, UINT64_MAX, false), 0);
	world_run();
	CHECK_EQ(begins, 1);
	/* the costs of a move with MIG_STRICT are those of one message */
	CHECK(more && !learned);
	CHECK(p->state == PROCESS_FREE && p->status == QUEST_MOVED(HERE));
	world_check();
}

/* While the link awaits its turn, the wish ends with its time, and the program has another one. */
static void wish_again(void)
{
	struct process *p = process_find(pid);

	if (otherend_sent.kind != MSG_ASK_TURN)
		return;
	thread_sleep_us(2 * MS);
	wishes_expire(p);
	CHECK_EQ(wishes_add(p, OTHER, UINT64_MAX, false), 0);
	before_answer = NULL;
}

static void observer(void *unused)
{
	struct process *p = process_find(pid);

	(void)unused;
	thread_sleep_us(100 * MS);
	CHECK_EQ(p->state, PROCESS_LIVE);
	CHECK_EQ(p->wish.link, OTHER + 1);
	CHECK_EQ(begins, 0);
	process_end(p, 0);
}

TEST(source_leaves_a_program_whose_wish_is_another_one)
{
	struct process *p = begin();

	before_answer = wish_again;
	CHECK_EQ(wishes_add(p, HERE, rdtsc() + timer_from_us(MS), false), 0);
	world_thread(observer);
	world_run();
	CHECK(process_find(pid)->state == PROCESS_ZOMBIE);
	world_check();
}

/* ---- a hostile destination, and a program that does what it likes ---- */

#define PROGRAMS	1000

static bool runs_there;			/* the destination has said so, to the last message */

static bool answers_anything(struct mig_stream *s)
{
	static const int errors[] = { ETIMEDOUT, ETIMEDOUT, ECONNRESET, EBADMSG };

	if (!world_below(8)) {
		s->error = errors[world_below(4)];
		return false;
	}
	s->message = (struct mig_message){
		.kind = !world_below(8) ? (uint32_t)world_below(MSG_TURN + 2) :
		       otherend_sent.last ? MSG_RUNNING : MSG_ACCEPTED,
		.error = (int32_t)world_below(3) - 1, .clock = world_below(2) ? 0 : ~0ull,
	};
	if (otherend_sent.kind == MSG_ASK_TURN && world_below(4))
		s->message = (struct mig_message){ .kind = MSG_TURN };
	runs_there |= otherend_sent.last && s->message.kind == MSG_RUNNING;
	return true;
}

static void do_anything(void)
{
	struct process *p = process_current();

	switch (world_below(16)) {
	case 0:
		process_end_thread(0);
	case 1:
		process_end(p, 1);
		break;
	case 2:
		wishes_expire(p);
		break;
	case 3:
	case 4:
	case 5:
		(void)wishes_add(p, HERE, world_below(2) ? UINT64_MAX : rdtsc() + world_below(MS),
				 false);
		break;
	default:
		(void)wait_on_until(&p->words, rdtsc() + timer_from_us(100));
	}
}

TEST(program_is_in_one_cell_whatever_the_destination_answers)
{
	unsigned int i, moved = 0;
	const struct process *p;

	world_begin(1, do_anything);
	l = (struct mig_link){ .names_pages = true, .stream.end = &end, .outgoing = true };
	otherend_answer = answers_anything;
	world_thread(sender);
	for (i = 0; i < PROGRAMS; i++) {
		unit_case("program %u", i);
		runs_there = false;
		p = world_program(NULL, 1 + (unsigned int)world_below(3), -1);
		world_run();
		CHECK(p->state == PROCESS_ZOMBIE);
		CHECK(WIFMOVED(p->status) == runs_there);
		moved += runs_there;
		world_check();
	}
	CHECK(moved > PROGRAMS / 20 && moved < PROGRAMS / 2);
}
