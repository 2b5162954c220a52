// SPDX-License-Identifier: GPL-2.0-only
/* MIG_STRICT at the source: asks the destination for its terms, and waits for the moment. */
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../kernel/dispatch.h"
#include "../kernel/process/process.h"
#include "../user/include/quest/errors.h"
#include "costs.h"
#include "moment.h"
#include "strict.h"

#define MOMENT_US	1000		/* time between two looks at the program */

/* Interrupts are off. Returns the size of a program that has not been detached. */
static struct mig_size size_of(const struct process *p)
{
	return (struct mig_size){
		.threads = p->num_threads, .pages = (uint32_t)p->space.pages,
		.vcpus = sched_count_owned(dispatch_sched(), p->pid, rdtsc()),
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

/* Asks the destination for its terms. Returns 0 or minus an error. */
static int ask(struct mig_stream *s, const struct mig_size *size, struct mig_terms *terms)
{
	const struct mig_message header = { .kind = MIG_ASK, .bytes = sizeof(*size) };

	if (!s->slot && !mig_claim(s))
		return -s->error;
	memcpy(s->slot + sizeof(header), size, sizeof(*size));
	if (!mig_commit(s, &header))
		return -s->error;
	mig_ring(s);
	if (!mig_receive(s, rdtsc() + timer_from_us(MIG_SILENCE_US)))
		return -s->error;
	if (s->message.kind == MIG_TERMS && s->message.bytes >= sizeof(*terms))
		memcpy(terms, s->slot + s->at, sizeof(*terms));
	else
		terms->wait = UINT64_MAX;
	return mig_release(s) ? 0 : -s->error;
}

/* Interrupts are off. Returns whether the program can move now and lose no budget. */
static bool moment_has_come(const struct process *p, const struct mig_size *size,
			    const struct mig_terms *terms)
{
	uint64_t now = rdtsc(), pack = mig_cost(MIG_PACKING, size), wait;
	const struct vcpu *v = sched_vcpu(dispatch_sched(), thread_current()->own_vcpu);
	bool ready;

	sched_charge(dispatch_sched(), now);
	ready = vcpu_eligible(v) <= now && vcpu_left(v, now) >= pack;
	wait = ready ? mig_wait(thread_current()->own_vcpu, pack, true) : UINT64_MAX;
	return wait != UINT64_MAX && terms->wait < UINT64_MAX - wait - timer_from_us(MIG_POLL_US) &&
	       mig_slack(p, now) >= wait + terms->wait + timer_from_us(MIG_POLL_US);
}

int mig_wait_for_moment(struct mig_link *l, int pid)
{
	struct mig_terms terms = { .wait = UINT64_MAX };
	uint64_t asked_until = 0;
	struct mig_size size;
	struct process *p;
	int error = 0;

	while (!error) {
		p = process_find(pid);
		if (!p || p->state != PROCESS_LIVE || p->ending)
			return -ESRCH;
		if (rdtsc() >= p->wish.until)
			return -ETIMEDOUT;
		size = size_of(p);
		if (!l->names_pages || bytes_of(&size) > l->stream.end->page.item)
			return -EMSGSIZE;
		if (moment_has_come(p, &size, &terms))
			return 0;
		irq_enable();
		if (rdtsc() >= asked_until) {
			error = ask(&l->stream, &size, &terms);
			asked_until = rdtsc() + timer_from_us(MIG_SILENCE_US / 2);
		} else {
			thread_sleep_us(MOMENT_US);
		}
		irq_disable();
	}
	return error;
}
