// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creates, changes and destroys VCPUs. To create or change a VCPU, a request must first be admitted
 * (admit.c). create() and change() then carry out the admitted request.
 */
#include "past.h"
#include "server.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int create(struct sched *s, uint64_t now)
{
	const struct admission_request *r = &s->request;
	int id = past_find_slot(s, now);
	struct vcpu *v = &s->vcpus[id];

	if (id == SCHED_VCPUS)
		return SCHED_FULL;
	*v = (struct vcpu){ .state = VCPU_ACTIVE, .params = r->params, .counts.created = now };
	server_of(v)->init(v, later(r->start, now));
	return id;
}

static int change(struct sched *s, uint64_t now)
{
	const struct admission_request *r = &s->request;
	int id = r->replaces;
	struct vcpu *v = &s->vcpus[id];
	bool other_server = v->params.type != r->params.type;
	uint64_t at;

	if (v->state != VCPU_ACTIVE || v->counts.created != r->created)
		return SCHED_NO_VCPU;
	sched_charge(s, now);
	past_remember(v, now);
	at = later(v->settled, later(r->start, now));
	v->params = r->params;
	v->used_then = v->counts.used;
	if (v->queue.head)
		readytree_remove(&s->ready, id);
	if (other_server)
		server_of(v)->init(v, at);
	else
		server_of(v)->set(v, at);
	if (v->queue.head)
		readytree_insert(&s->ready, id, vcpu_key(v, id), server_of(v)->eligible(v));
	return 0;
}

void sched_set_owner(struct sched *s, int id, int owner)
{
	s->vcpus[id].params.owner = owner;
}

void sched_inherit_past(struct sched *s, int owner, int heir)
{
	int id;

	for (id = 0; id < SCHED_VCPUS; id++)
		if (s->vcpus[id].state == VCPU_RETIRED && s->vcpus[id].params.owner == owner)
			s->vcpus[id].params.owner = heir;
}

unsigned int sched_count_owned(const struct sched *s, int owner, uint64_t now)
{
	const struct vcpu *v;
	unsigned int n = 0;

	for (v = s->vcpus; v < s->vcpus + SCHED_VCPUS; v++)
		n += v->params.owner == owner &&
		     (v->state == VCPU_ACTIVE || past_unsettled(v, now));
	return n;
}

int sched_admission_commit(struct sched *s, uint64_t now)
{
	if (s->request.error)
		return s->request.error;
	return s->request.replaces < 0 ? create(s, now) : change(s, now);
}

int sched_vcpu_create(struct sched *s, const struct vcpu_params *params, uint64_t now)
{
	sched_admission_begin(s, params, -1, now);
	sched_admission_test(s);
	return sched_admission_commit(s, now);
}

int sched_vcpu_set(struct sched *s, int id, const struct vcpu_params *params, uint64_t now)
{
	if (id < 0)
		return SCHED_NO_VCPU;
	sched_admission_begin(s, params, id, now);
	sched_admission_test(s);
	return sched_admission_commit(s, now);
}

int sched_vcpu_destroy(struct sched *s, int id, uint64_t now)
{
	struct vcpu *v;

	if (!sched_vcpu(s, id))
		return SCHED_NO_VCPU;
	v = &s->vcpus[id];
	if (v->bound)
		return SCHED_IN_USE;
	past_remember(v, now);
	v->state = v->settled > now ? VCPU_RETIRED : VCPU_FREE;
	return 0;
}
