// SPDX-License-Identifier: GPL-2.0-only
/*
 * VCPUs come, go and change. Who destroys a VCPU or makes it smaller and then
 * creates another must not gain budget by it: what was used is remembered until
 * all of it would have come back, and a new one begins then if it cannot begin
 * beside it.
 */
#include "server.h"

static const char *const texts[] = {
	[-SCHED_BAD_PARAMS] = "budget and period make no sense: use 0 < C <= T (an I/O VCPU: C < T), T at most some 20 minutes",
	[-SCHED_FULL] = "there are as many VCPUs as can be: destroy one first",
	[-SCHED_OVER_BOUND] = "the VCPUs together would be above the utilisation bound: use a smaller C or a longer T, "
		"destroy another, or use the exact test (admission=exact)",
	[-SCHED_TOO_LATE] = "a VCPU would not get its budget within its period: use a smaller C or a longer T, or destroy another",
	[-SCHED_NO_VCPU] = "there is no such VCPU: vcpus lists them",
	[-SCHED_IN_USE] = "threads are bound to the VCPU: end them or bind them to another first",
};

const char *sched_error_text(int error)
{
	if (error >= 0 || (unsigned int)-error >= sizeof(texts) / sizeof(texts[0]))
		return "";
	return texts[-error];
}

static bool params_make_sense(const struct vcpu_params *p)
{
	if (!p->budget || p->budget > p->period || p->period > ADMISSION_PERIOD_MAX)
		return false;
	return p->type == MAIN_VCPU || (p->type == IO_VCPU && p->budget < p->period);
}

static bool unsettled(const struct vcpu *v, uint64_t now)
{
	return v->state != VCPU_FREE && v->settled > now;
}

/* What it has used is not forgotten. If something is remembered already, it has had no budget since. */
static void remember(struct vcpu *v, uint64_t now)
{
	uint64_t settled = server_of(v)->settled(v);

	if (!unsettled(v, now))
		v->past = (struct admission_entry){ v->params.type == IO_VCPU, server_of(v)->outstanding(v, now), v->params.period };
	if (settled > v->settled)
		v->settled = settled;
}

static struct admission_entry entry(const struct vcpu_params *p)
{
	return (struct admission_entry){ p->type == IO_VCPU, p->budget, p->period };
}

/* 0: `params` may be one of them, in place of VCPU `instead` (-1: of none); `past`: beside what is remembered, too. */
static int admit(struct sched *s, const struct vcpu_params *params, int instead, bool past, uint64_t now)
{
	unsigned int n = 0;
	int id;

	for (id = 0; id < SCHED_VCPUS; id++) {
		if (id == instead)
			continue;
		if (s->vcpus[id].state == VCPU_ACTIVE)
			s->set[n++] = entry(&s->vcpus[id].params);
		if (past && unsettled(&s->vcpus[id], now))
			s->set[n++] = s->vcpus[id].past;
	}
	s->set[n++] = entry(params);
	if (s->config.admission == ADMISSION_EXACT)
		return admission_exact(s->set, n) ? 0 : SCHED_TOO_LATE;
	return admission_bound(s->set, n) ? 0 : SCHED_OVER_BOUND;
}

/* The lowest free id, else that of one that is retired; SCHED_VCPUS: none. */
static int find_slot(const struct sched *s, uint64_t now)
{
	int id, slot = SCHED_VCPUS;

	for (id = SCHED_VCPUS - 1; id >= 0; id--)
		if (s->vcpus[id].state != VCPU_ACTIVE && !unsettled(&s->vcpus[id], now))
			slot = id;
	for (id = 0; slot == SCHED_VCPUS && id < SCHED_VCPUS; id++)
		if (s->vcpus[id].state == VCPU_RETIRED)
			slot = id;
	return slot;
}

/* When nothing that is remembered is outstanding any more. */
static uint64_t all_settled(const struct sched *s, uint64_t now)
{
	uint64_t at = now;
	int id;

	for (id = 0; id < SCHED_VCPUS; id++)
		if (unsettled(&s->vcpus[id], at))
			at = s->vcpus[id].settled;
	return at;
}

int sched_vcpu_create(struct sched *s, const struct vcpu_params *params, uint64_t now)
{
	int id = find_slot(s, now), error;
	struct vcpu *v;
	uint64_t at;

	if (!params_make_sense(params))
		return SCHED_BAD_PARAMS;
	if (id == SCHED_VCPUS)
		return SCHED_FULL;
	error = admit(s, params, -1, false, now);
	if (error)
		return error;
	v = &s->vcpus[id];
	at = unsettled(v, now) || admit(s, params, -1, true, now) ? all_settled(s, now) : now;
	*v = (struct vcpu){ .state = VCPU_ACTIVE, .params = *params, .counts.created = now };
	v->params.name[SCHED_NAME - 1] = 0;
	server_of(v)->init(v, at);
	return id;
}

int sched_vcpu_destroy(struct sched *s, int id, uint64_t now)
{
	struct vcpu *v;

	if (!sched_vcpu(s, id))
		return SCHED_NO_VCPU;
	v = &s->vcpus[id];
	if (v->bound)
		return SCHED_IN_USE;
	remember(v, now);
	v->state = v->settled > now ? VCPU_RETIRED : VCPU_FREE;
	return 0;
}

int sched_vcpu_set(struct sched *s, int id, const struct vcpu_params *params, uint64_t now)
{
	struct vcpu *v;
	uint64_t at;
	int error;

	if (!sched_vcpu(s, id))
		return SCHED_NO_VCPU;
	v = &s->vcpus[id];
	if (!params_make_sense(params) || params->type != v->params.type)
		return SCHED_BAD_PARAMS;
	error = admit(s, params, id, false, now);
	if (error)
		return error;
	at = admit(s, params, id, true, now) ? all_settled(s, now) : now;
	sched_charge(s, now);
	remember(v, now);
	v->params = *params;
	v->params.name[SCHED_NAME - 1] = 0;
	if (v->queue.head)
		readytree_remove(&s->ready, id);
	server_of(v)->set(v, at);
	if (v->queue.head)
		readytree_insert(&s->ready, id, vcpu_key(v, id), server_of(v)->eligible(v));
	return 0;
}
