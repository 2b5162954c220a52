// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/latency.h>
#include "lateness.h"
#include "thread.h"

/* The histogram of a VCPU. Another VCPU may get its id later: `created` distinguishes them. */
static struct {
	uint64_t created;
	int histogram;
	uint64_t worst;			/* since lateness_take() */
} of_vcpu[SCHED_VCPUS];

void lateness_due(struct thread *t, uint64_t at)
{
	t->due = at;
}

void lateness_runs(const struct sched *s, struct thread *t, uint64_t now)
{
	uint64_t due = t->due, late;
	const struct vcpu *v;
	int id = t->sched.vcpu;

	if (!due)
		return;
	t->due = 0;
	v = sched_vcpu(s, id);
	if (!v)
		return;
	if (of_vcpu[id].created != v->counts.created) {
		of_vcpu[id].created = v->counts.created;
		of_vcpu[id].histogram = latency_open(v->params.name);
		of_vcpu[id].worst = 0;
	}
	late = now > due ? now - due : 0;
	if (late > of_vcpu[id].worst)
		of_vcpu[id].worst = late;
	latency_add_by(of_vcpu[id].histogram, late, v->params.period);
}

uint64_t lateness_take(int vcpu)
{
	uint64_t worst = of_vcpu[vcpu].worst;

	of_vcpu[vcpu].worst = 0;
	return worst;
}
