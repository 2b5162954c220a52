// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../kernel/thread.h"
#include "../user/include/quest/errors.h"
#include "turn.h"

#define AGAIN_US	5000	/* the least time between two attempts, and half of the most */

/* so long the last link leaves the turn to another, which has asked; more than 2 AGAIN_US */
#define LEAVE_US	20000

static const struct mig_link *owner, *last;	/* NULL: no link */
static uint64_t since, over;		/* TSC at which the owner's turn began, and ends */
static uint64_t leaves;			/* TSC until which `last` leaves it to others */

bool turn_take(const struct mig_link *l, uint64_t us)
{
	bool irqs = irq_save(), takes;
	uint64_t now = rdtsc();

	if (owner && now >= over)
		owner = NULL;
	takes = owner ? owner == l : l != last || now >= leaves;
	if (takes) {
		since = owner ? since : now;
		owner = last = l;
		over = now + timer_from_us(us);
		if (over - since > timer_from_us(TURN_US))
			over = since + timer_from_us(TURN_US);
	} else if (owner) {
		leaves = now + timer_from_us(LEAVE_US);
	}
	irq_restore(irqs);
	return takes;
}

void turn_end(const struct mig_link *l)
{
	bool irqs = irq_save();

	if (owner == l)
		owner = NULL;
	irq_restore(irqs);
}

void turn_respect(const struct mig_link *l)
{
	bool irqs = irq_save(), other = owner && owner != l && rdtsc() < over;

	irq_restore(irqs);
	if (other)
		thread_sleep_us(AGAIN_US);
}

/* Asks the destination about its turn. Returns 0 or minus an error. */
static int exchange(struct mig_stream *s, enum mig_kind kind, uint64_t us)
{
	int error = mig_ask(s, kind, NULL, 0, us);

	if (error)
		return error;
	error = s->message.kind != MSG_TURN ? -EPROTO : s->message.error ? -EAGAIN : 0;
	return mig_release(s) ? error : -s->error;
}

/* The time is random, so that two cells which ask each other at once do not do so again. */
static void wait_some_time(void)
{
	thread_sleep_us(AGAIN_US + rdtsc() % AGAIN_US);
}

void turn_return(struct mig_link *l)
{
	/* if the destination is silent, its turn ends with its time */
	(void)exchange(&l->stream, MSG_END_TURN, MIG_KILL_US);
	turn_end(l);
}

int turn_begin(struct mig_link *l, bool both)
{
	int error = -EAGAIN;

	if (turn_take(l, TURN_US)) {
		error = both ? exchange(&l->stream, MSG_ASK_TURN, MIG_SILENCE_US) : 0;
		if (error)
			turn_end(l);
	} else if (!both) {
		turn_return(l);
	}
	if (error == -EAGAIN)
		wait_some_time();
	return error;
}

void turn_answer(struct mig_link *l)
{
	struct mig_message header = { .kind = MSG_TURN };
	struct mig_stream *s = &l->stream;
	bool asks = s->message.kind == MSG_ASK_TURN;

	if (!asks)
		turn_end(l);
	else if (!turn_take(l, TURN_US))
		header.error = -EBUSY;
	if (!mig_release(s) || !mig_claim(s))
		return;
	header.clock = rdtsc();
	if (mig_commit(s, &header))
		mig_ring(s);
}
