// SPDX-License-Identifier: GPL-2.0-only
/* Cells tell each other their load, over the links by which programs move. */
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../kernel/dispatch.h"
#include "../kernel/machine.h"
#include "../kernel/process/process.h"
#include "../user/include/quest/errors.h"
#include "link.h"
#include "load.h"
#include "wishes.h"

#define ANSWER_US	2000000		/* an answer that takes longer is given up */

static struct {
	bool awaited;			/* only the link's thread may write the answer */
	int error;			/* minus an error: there is no answer */
	struct mig_load load;
} answers[LINKS_MAX];

/* Describes VCPU `id`. Returns false if it does not exist, or has no budget. */
static bool describe(int id, struct mig_load_vcpu *to)
{
	bool irqs = irq_save(), found;
	const struct vcpu *v = sched_vcpu(dispatch_sched(), id);
	uint64_t age;

	found = v && v->params.type != BACKGROUND_VCPU;
	if (found) {
		age = (rdtsc() - v->counts.created) / 1000;
		*to = (struct mig_load_vcpu){
			.budget = v->params.budget, .period = v->params.period,
			.io = v->params.type == IO_VCPU,
			.used = age ? (uint32_t)(v->counts.used / age) : 0,
		};
		if (to->used > 1000)
			to->used = 1000;
		copy_string(to->name, v->params.name, sizeof(to->name));
	}
	irq_restore(irqs);
	return found;
}

static uint32_t count_programs(void)
{
	uint32_t n = 0;
	int i;

	for (i = 0; i < PROCESS_MAX; i++)
		n += process_at(i) != NULL;
	return n;
}

uint32_t mig_load_here(struct mig_load *load, uint32_t most)
{
	struct mig_load_vcpu v;
	uint32_t n = 0, listed = 0;
	int id;

	for (id = 0; id < SCHED_VCPUS; id++) {
		if (!describe(id, &v))
			continue;
		n++;
		if (listed < most)
			load->vcpus[listed++] = v;
	}
	load->tsc_khz = machine.tsc_khz;
	load->test = dispatch_sched()->config.admission;
	load->num_vcpus = n;
	load->listed = listed;
	load->programs = count_programs();
	load->reserved = 0;
	load->free = pages_available() * PAGE_SIZE;
	return listed;
}

void mig_load_answer(struct mig_link *l)
{
	struct mig_message header = { .kind = MSG_LOAD };
	struct mig_stream *s = &l->stream;
	struct mig_load *load;
	size_t most;

	if (!mig_release(s) || !mig_claim(s))
		return;
	/* it is only written: the other end can change it at any time */
	load = (struct mig_load *)(s->slot + s->at);
	most = (mig_room(s) - mig_load_bytes(0)) / sizeof(load->vcpus[0]);
	most = most < LOAD_VCPUS ? most : LOAD_VCPUS;
	header.bytes = (uint32_t)mig_load_bytes(mig_load_here(load, (uint32_t)most));
	header.clock = rdtsc();
	if (mig_commit(s, &header))
		mig_ring(s);
}

/* Copies the answer that was received. Returns 0 or minus an error. */
static int take_answer(const struct mig_stream *s, struct mig_load *load)
{
	if (s->message.kind != MSG_LOAD || s->message.bytes > sizeof(*load))
		return -EPROTO;
	memcpy(load, s->slot + s->at, s->message.bytes);
	return mig_check_load(load, s->message.bytes, machine.tsc_khz);
}

static int exchange(struct mig_stream *s, struct mig_load *load)
{
	int error = mig_ask(s, MSG_ASK_LOAD, NULL, 0, ANSWER_US);

	if (error)
		return error;
	error = take_answer(s, load);
	return mig_release(s) ? error : -s->error;
}

void mig_load_exchange(struct mig_link *l, int number)
{
	int error = exchange(&l->stream, &answers[number].load);
	bool irqs = irq_save();

	answers[number].error = error;
	answers[number].awaited = false;
	irq_restore(irqs);
}

void mig_load_ask(int link)
{
	bool irqs = irq_save();

	if (!answers[link].awaited) {
		answers[link].awaited = true;
		wishes_ask(link);
	}
	irq_restore(irqs);
}

int mig_load_get(int link, struct mig_load *load)
{
	bool irqs = irq_save();
	int error = answers[link].awaited ? -EAGAIN : answers[link].error;

	if (!error)
		*load = answers[link].load;
	irq_restore(irqs);
	return error;
}
