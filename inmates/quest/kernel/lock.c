// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include "../mm/usercopy.h"
#include "../user/include/quest/errors.h"
#include "../user/include/quest/types.h"
#include "dispatch.h"
#include "lock.h"
#include "threadslot.h"
#include "vcpu/bind.h"
#include "vcpu/vcpu.h"

/* The threads of a program by their numbers; NULL: no such thread. */
struct crew {
	struct thread *at[STACKS_MAX];
};

static uint32_t name_of(const struct thread *t)
{
	return t->slot + 1;
}

static uint64_t period_of(int vcpu)
{
	return vcpu_period(sched_vcpu(dispatch_sched(), vcpu));
}

static struct thread *owner_in(const struct crew *crew, uint32_t word)
{
	uint32_t name = word & ~LOCK_AWAITED;

	return name && name <= STACKS_MAX ? crew->at[name - 1] : NULL;
}

/* Returns the owner of the lock that `t` waits for; NULL: it waits for none. */
static struct thread *awaited_by(const struct crew *crew, const struct thread *t)
{
	return t && t->awaits ? owner_in(crew, t->awaits_owner) : NULL;
}

/* A VCPU that a thread has or inherits. */
struct inherited {
	int vcpu;
	uint64_t period;
};

/*
 * Finds a VCPU for each thread: the VCPU with the shortest period among its own and those of all
 * threads that wait for it, directly or through other owners. Each thread passes its own VCPU along
 * its chain of owners, up to an owner that has a shorter period.
 */
static void choose_vcpus(const struct crew *crew, struct inherited to[STACKS_MAX])
{
	const struct thread *t;
	unsigned int i;

	for (i = 0; i < STACKS_MAX; i++) {
		to[i].vcpu = crew->at[i] ? crew->at[i]->own_vcpu : BEST_EFFORT_VCPU;
		to[i].period = period_of(to[i].vcpu);
	}
	for (i = 0; i < STACKS_MAX; i++)
		for (t = awaited_by(crew, crew->at[i]); t && to[i].period < to[t->slot].period;
		     t = awaited_by(crew, t))
			to[t->slot] = to[i];
}

static void inherit(const struct crew *crew)
{
	struct inherited to[STACKS_MAX];
	unsigned int i;

	choose_vcpus(crew, to);
	for (i = 0; i < STACKS_MAX; i++)
		if (crew->at[i] && crew->at[i]->sched.vcpu != to[i].vcpu)
			(void)vcpu_bind(crew->at[i], to[i].vcpu);
}

void lock_inherit(const struct process *p)
{
	struct crew crew;

	threadslots_collect(p, crew.at);
	inherit(&crew);
}

void lock_inherit_all(void)
{
	bool irqs = irq_save();
	int i;

	for (i = 0; i < PROCESS_MAX; i++) {
		if (!process_at(i))
			continue;
		lock_inherit(process_at(i));
		let_interrupts_in();
	}
	irq_restore(irqs);
}

/* Returns whether thread `me` would wait for itself through a chain of owners. */
static bool closes_circle(const struct crew *crew, uint32_t word, const struct thread *me)
{
	const struct thread *t = owner_in(crew, word);
	unsigned int i;

	for (i = 0; t && t != me && i < STACKS_MAX; i++)
		t = awaited_by(crew, t);
	return t == me;
}

/*
 * Returns the next owner of the lock at `at`: the thread with the shortest period; of equal
 * periods, the thread that has waited longest. Sets `*more` if other threads wait, too.
 */
static struct thread *next_owner(const struct process *p, const struct crew *crew, uint64_t at,
				 bool *more)
{
	struct thread *t, *best = NULL;

	*more = false;
	/* the thread that has waited longest comes first */
	for (t = p->locks.head; t; t = t->next_waiting) {
		if (t->awaits != at || crew->at[t->slot] != t)
			continue;
		*more = best;
		if (!best || period_of(t->sched.vcpu) < period_of(best->sched.vcpu))
			best = t;
	}
	return best;
}

static bool put_word(const struct process *p, uint64_t at, uint32_t word)
{
	return copy_to_user(&p->space, at, &word, sizeof(word));
}

/*
 * Takes the lock if it is free; else records that a thread waits for its owner, and returns
 * -EAGAIN.
 */
static long try_take(const struct process *p, struct thread *me, uint64_t at)
{
	struct crew crew;
	uint32_t word;
	bool more;

	if (!copy_from_user(&p->space, &word, at, sizeof(word)))
		return -EFAULT;
	threadslots_collect(p, crew.at);
	if (!(word & ~LOCK_AWAITED)) {
		word = name_of(me) | (next_owner(p, &crew, at, &more) ? LOCK_AWAITED : 0);
		return put_word(p, at, word) ? 0 : -EFAULT;
	}
	if (closes_circle(&crew, word, me))
		return -EDEADLK;
	if (!put_word(p, at, word | LOCK_AWAITED))
		return -EFAULT;
	me->awaits = at;
	me->awaits_owner = word & ~LOCK_AWAITED;
	inherit(&crew);
	return -EAGAIN;
}

long lock_take(uint64_t at, uint64_t until)
{
	struct process *p = process_current();
	struct thread *me = thread_current();
	long answer = try_take(p, me, at);
	bool in_time;

	if (answer != -EAGAIN)
		return answer;
	in_time = wait_on_until(&p->locks, until);
	if (!me->awaits)		/* lock_release() has made this thread the owner */
		return 0;
	me->awaits = 0;
	let_interrupts_in();		/* the limit may have come at once, after inherit() */
	lock_inherit(p);
	if (!in_time)
		return -ETIMEDOUT;
	return process_interrupted(p) ? process_interrupted(p) : -ERESTART;
}

static void hand_over(const struct process *p, struct crew *crew, struct thread *next, uint64_t at)
{
	struct thread *t;

	next->awaits = 0;
	for (t = p->locks.head; t; t = t->next_waiting)
		if (t->awaits == at)
			t->awaits_owner = name_of(next);
	wake_thread(next);
	inherit(crew);
}

long lock_release(uint64_t at)
{
	struct process *p = process_current();
	struct thread *next;
	struct crew crew;
	uint32_t word;
	bool more;

	if (!copy_from_user(&p->space, &word, at, sizeof(word)))
		return -EFAULT;
	threadslots_collect(p, crew.at);
	if (owner_in(&crew, word) != thread_current())
		return -EPERM;
	next = next_owner(p, &crew, at, &more);
	if (!put_word(p, at, next ? name_of(next) | (more ? LOCK_AWAITED : 0) : 0))
		return -EFAULT;
	if (next)
		hand_over(p, &crew, next, at);
	return 0;
}
