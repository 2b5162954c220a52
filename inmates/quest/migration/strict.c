// SPDX-License-Identifier: GPL-2.0-only
/* MIG_STRICT at the source: asks the destination for its terms, and waits for the moment. */
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../kernel/dispatch.h"
#include "../kernel/process/process.h"
#include "../kernel/vcpu/uservcpu.h"
#include "../kernel/vcpu/vcpu.h"
#include "../user/include/quest/errors.h"
#include "costs.h"
#include "moment.h"
#include "pack.h"
#include "strict.h"
#include "turn.h"
#include "wishes.h"

#define MOMENT_US	1000		/* time between two looks at the program */
#define FRESH_US	20000		/* an older plan is replaced */
#define BUSY_US		10000		/* time between two questions to a cell that is busy */
/* a program repeats what it does in its longest period: so many of them, and so long, are enough */
#define WATCH_PERIODS	10
#define WATCH_US	1000000

/*
 * Interrupts are off. Returns the size of a program that has not been detached, with so many pages
 * of channels.
 */
static struct mig_size size_of(const struct process *p, uint32_t shared)
{
	return (struct mig_size){
		.threads = p->num_threads, .pages = (uint32_t)p->space.pages,
		.vcpus = sched_count_owned(dispatch_sched(), p->pid, rdtsc()),
		.shared = shared,
	};
}

/* Returns the bytes of a message with such a program, if all its pages are named. */
static uint64_t bytes_of(const struct mig_size *size)
{
	return sizeof(struct mig_message) + sizeof(struct mig_header) +
	       size->threads * sizeof(struct thread_image) +
	       size->vcpus * sizeof(struct vcpu_image) +
	       (uint64_t)size->pages * sizeof(struct mig_page);
}

/* Asks the destination for its terms. Returns 0 or minus an error; EAGAIN: it is busy (turn.h). */
static int ask(struct mig_stream *s, const struct mig_size *size, struct mig_terms *terms)
{
	int error = mig_ask(s, MSG_ASK, size, sizeof(*size), MIG_SILENCE_US);

	if (error)
		return error;
	if (s->message.kind == MSG_TERMS && s->message.bytes >= sizeof(*terms))
		memcpy(terms, s->slot + s->at, sizeof(*terms));
	else
		terms->wait = UINT64_MAX;
	error = s->message.kind == MSG_TERMS && s->message.error ? -EAGAIN : 0;
	return mig_release(s) ? error : -s->error;
}

/* The times that a move takes, and when this was found out. */
struct plan {
	uint64_t asked;			/* TSC */
	uint64_t pack, own;		/* CPU time of this side; the longest time that it takes */
	struct mig_terms terms;
};

/* Finds out how long a move takes now. Interrupts are on. Returns 0 or minus an error. */
static int make_plan(struct mig_link *l, const struct mig_size *size, struct plan *plan)
{
	int error = ask(&l->stream, size, &plan->terms);

	plan->pack = mig_cost(MIG_PACKING, size);
	plan->own = mig_wait(l->set, plan->pack, true);
	plan->asked = rdtsc();
	return error;
}

/* Returns D_mig: UINT64_MAX: there is no bound. */
static uint64_t longest(const struct plan *plan)
{
	uint64_t wait;

	if (__builtin_add_overflow(plan->own, plan->terms.wait, &wait) ||
	    __builtin_add_overflow(wait, timer_from_us(MIG_POLL_US), &wait))
		return UINT64_MAX;
	return wait;
}

/* Interrupts are off. Returns whether the program can move now and lose no budget. */
static bool moment_has_come(const struct process *p, const struct plan *plan)
{
	const struct vcpu *v = sched_vcpu(dispatch_sched(), thread_current()->own_vcpu);
	uint64_t now = rdtsc(), wait = longest(plan);

	sched_charge(dispatch_sched(), now);
	return wait != UINT64_MAX && vcpu_eligible(v) <= now && vcpu_left(v, now) >= plan->pack &&
	       mig_slack(p, now) >= wait;
}

/* Returns whether no program of that size can move by this plan, whenever it is. */
static bool never(const struct plan *plan)
{
	const struct vcpu *v = sched_vcpu(dispatch_sched(), thread_current()->own_vcpu);

	return longest(plan) == UINT64_MAX || plan->pack > v->params.budget;
}

/* Returns how long to look for a moment: after that it is unlikely to come. */
static uint64_t time_to_watch(const struct process *p)
{
	uint64_t longest_period = 0, period, least = timer_from_us(WATCH_US);
	int id;

	for (id = VCPU_FIXED; id < SCHED_VCPUS; id++) {
		if (!uservcpu_owned(id, p->pid))
			continue;
		period = sched_vcpu(dispatch_sched(), id)->params.period;
		longest_period = period > longest_period ? period : longest_period;
	}
	longest_period *= WATCH_PERIODS;
	return longest_period > least ? longest_period : least;
}

/*
 * Returns whether the process can still wait for its moment: 0 or minus an error. Since TSC `since`
 * the moment could have come, and for p->wish.watched before. A wish with a limit of time lasts
 * until then.
 */
static int check_wish(const struct mig_link *l, struct process *p, uint64_t since,
		      struct mig_size *size)
{
	if (!p || p->state != PROCESS_LIVE || p->ending)
		return -ESRCH;
	p->wish.hopeless = rdtsc() - since + p->wish.watched >= time_to_watch(p);
	if (p->wish.hopeless && p->wish.until == UINT64_MAX)
		return -ENOSLACK;
	if (rdtsc() >= p->wish.until)
		return p->wish.hopeless ? -ENOSLACK : -ETIMEDOUT;
	*size = size_of(p, mig_size_of(&l->header).shared);
	return l->names_pages && bytes_of(size) <= l->stream.end->page.item ? 0 : -EMSGSIZE;
}

int mig_wait_for_moment(struct mig_link *l, int pid)
{
	struct plan plan = { .terms.wait = UINT64_MAX };
	struct process *p = process_find(pid);
	struct mig_size size;
	uint64_t age, fresh = timer_from_us(FRESH_US), since = rdtsc();
	uint64_t end = since + timer_from_us(TURN_US);
	uint32_t wish = p->wish.number;
	int error;
	bool now;

	for (;; p = wishes_find(pid, wish)) {
		error = check_wish(l, p, since, &size);
		if (error)
			return error;
		now = moment_has_come(p, &plan);
		age = rdtsc() - plan.asked;
		if (now && age < fresh)
			return 0;
		if (rdtsc() >= end) {
			p->wish.watched += rdtsc() - since;
			return -EAGAIN;
		}
		irq_enable();
		/* the VCPUs of both cells may have changed since the plan was made */
		if (now || !plan.asked || age >= timer_from_us(MIG_SILENCE_US / 2))
			error = make_plan(l, &size, &plan);
		else
			thread_sleep_us(MOMENT_US);
		if (error == -EAGAIN) {
			plan = (struct plan){ .terms.wait = UINT64_MAX };
			thread_sleep_us(BUSY_US);
			since = rdtsc();
			error = 0;
		}
		irq_disable();
		if (!error && plan.asked && never(&plan))
			error = -ENOSLACK;
		if (error)
			return error;
	}
}
