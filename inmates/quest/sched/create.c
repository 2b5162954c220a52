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

static int look_at(const struct sched *s, const struct vcpu_params *params, int instead, uint64_t now)
{
	if (instead >= 0 && !sched_vcpu(s, instead))
		return SCHED_NO_VCPU;
	if (!params_make_sense(params) || (instead >= 0 && params->type != s->vcpus[instead].params.type))
		return SCHED_BAD_PARAMS;
	return instead < 0 && find_slot(s, now) == SCHED_VCPUS ? SCHED_FULL : 0;
}

void sched_ask(struct sched *s, const struct vcpu_params *params, int instead, uint64_t now)
{
	struct sched_question *q = &s->question;
	int id;

	q->params = *params;
	q->params.name[SCHED_NAME - 1] = 0;
	q->instead = instead;
	q->error = look_at(s, params, instead, now);
	if (q->error)
		return;
	q->created = instead < 0 ? 0 : s->vcpus[instead].counts.created;
	q->set[0] = entry(params);
	q->active = 1;
	for (id = 0; id < SCHED_VCPUS; id++)
		if (id != instead && s->vcpus[id].state == VCPU_ACTIVE)
			q->set[q->active++] = entry(&s->vcpus[id].params);
	q->all = q->active;
	for (id = 0; id < SCHED_VCPUS; id++)
		if (id != instead && unsettled(&s->vcpus[id], now))
			q->set[q->all++] = s->vcpus[id].past;
}

static bool admitted(const struct sched *s, unsigned int n)
{
	const struct admission_entry *set = s->question.set;

	return s->config.admission == ADMISSION_EXACT ? admission_exact(set, n) : admission_bound(set, n);
}

void sched_answer(struct sched *s)
{
	struct sched_question *q = &s->question;

	if (q->error)
		return;
	if (!admitted(s, q->active))
		q->error = s->config.admission == ADMISSION_EXACT ? SCHED_TOO_LATE : SCHED_OVER_BOUND;
	else
		q->beside = q->all == q->active || admitted(s, q->all);
}

static int create(struct sched *s, uint64_t now)
{
	const struct sched_question *q = &s->question;
	int id = find_slot(s, now);
	struct vcpu *v = &s->vcpus[id];
	uint64_t at = unsettled(v, now) || !q->beside ? all_settled(s, now) : now;

	*v = (struct vcpu){ .state = VCPU_ACTIVE, .params = q->params, .counts.created = now };
	server_of(v)->init(v, at);
	return id;
}

static int set(struct sched *s, uint64_t now)
{
	const struct sched_question *q = &s->question;
	int id = q->instead;
	struct vcpu *v = &s->vcpus[id];
	uint64_t at = q->beside ? now : all_settled(s, now);

	if (v->state != VCPU_ACTIVE || v->counts.created != q->created)
		return SCHED_NO_VCPU;
	sched_charge(s, now);
	remember(v, now);
	v->params = q->params;
	if (v->queue.head)
		readytree_remove(&s->ready, id);
	server_of(v)->set(v, at);
	if (v->queue.head)
		readytree_insert(&s->ready, id, vcpu_key(v, id), server_of(v)->eligible(v));
	return 0;
}

int sched_carry_out(struct sched *s, uint64_t now)
{
	if (s->question.error)
		return s->question.error;
	return s->question.instead < 0 ? create(s, now) : set(s, now);
}

int sched_vcpu_create(struct sched *s, const struct vcpu_params *params, uint64_t now)
{
	sched_ask(s, params, -1, now);
	sched_answer(s);
	return sched_carry_out(s, now);
}

int sched_vcpu_set(struct sched *s, int id, const struct vcpu_params *params, uint64_t now)
{
	if (id < 0)
		return SCHED_NO_VCPU;
	sched_ask(s, params, id, now);
	sched_answer(s);
	return sched_carry_out(s, now);
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
