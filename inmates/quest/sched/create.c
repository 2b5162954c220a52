// SPDX-License-Identifier: GPL-2.0-only
/*
 * VCPUs come, go and change. Who destroys a VCPU or makes it smaller and then
 * creates another must not take from others by it: what was used is remembered
 * until it would have come back. Of the same owner, a new one that cannot begin
 * beside it begins then; one of another owner is refused, as it would be if the
 * old one were there still. What nobody who is there could notice is not counted.
 */
#include "server.h"

static const char *const texts[] = {
	[-SCHED_BAD_PARAMS] = "budget and period make no sense: use 0 < C <= T (an I/O VCPU: C < T), T at most some 20 minutes",
	[-SCHED_FULL] = "there are as many VCPUs as can be: destroy one first",
	[-SCHED_OVER_BOUND] = "the VCPUs together would be above the utilisation bound: use a smaller C or a longer T, "
		"destroy another, or use the exact test (admission=exact)",
	[-SCHED_TOO_LATE] = "a VCPU would not get its budget within its period: use a smaller C or a longer T, or destroy another",
	[-SCHED_NO_VCPU] = "there is no such VCPU: vcpus lists them",
	[-SCHED_NOT_YET] = "what a VCPU that is gone has used must come back first: try again within its period",
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
	if (p->type == BACKGROUND_VCPU)
		return !p->budget && !p->period;
	if (!p->budget || p->budget > p->period || p->period > ADMISSION_PERIOD_MAX)
		return false;
	return p->type == MAIN_VCPU || (p->type == IO_VCPU && p->budget < p->period);
}

static bool unsettled(const struct vcpu *v, uint64_t now)
{
	return v->state != VCPU_FREE && v->settled > now;
}

/*
 * What it has used under these parameters is not forgotten, for one period at most: no window of that length has more of it in it. If
 * something is remembered already, it has had no budget since.
 */
static void remember(struct vcpu *v, uint64_t now)
{
	uint64_t settled = server_of(v)->settled(v), latest = now + vcpu_period(v);

	if (v->counts.used == v->used_then)
		return;
	if (!unsettled(v, now))
		v->past = (struct admission_entry){ v->params.type == IO_VCPU, server_of(v)->outstanding(v, now), v->params.period };
	if (settled > latest)
		settled = latest;
	if (settled > v->settled)
		v->settled = settled;
}

static struct admission_entry entry(const struct vcpu_params *p)
{
	return (struct admission_entry){ p->type == IO_VCPU, p->budget, p->period };
}

/* The longest period of a Main VCPU that is there. */
static uint64_t longest_period(const struct sched *s)
{
	uint64_t longest = 0;
	int id;

	for (id = 0; id < SCHED_VCPUS; id++)
		if (s->vcpus[id].state == VCPU_ACTIVE && s->vcpus[id].params.type == MAIN_VCPU && s->vcpus[id].params.period > longest)
			longest = s->vcpus[id].params.period;
	return longest;
}

/* What `v` has used, at the priority of a period that is longer than all others', has taken nothing from them. */
static bool noticed(const struct vcpu *v, uint64_t longest)
{
	return v->past.io || v->past.period <= longest;
}

/* The lowest free id, else that of one that is gone and that nobody notices; SCHED_VCPUS: none. */
static int find_slot(const struct sched *s, uint64_t now)
{
	uint64_t longest = longest_period(s);
	int id, spare = SCHED_VCPUS;

	for (id = 0; id < SCHED_VCPUS; id++) {
		if (s->vcpus[id].state == VCPU_ACTIVE)
			continue;
		if (!unsettled(&s->vcpus[id], now))
			return id;
		if (spare == SCHED_VCPUS && !noticed(&s->vcpus[id], longest))
			spare = id;
	}
	return spare;
}

/* Main to I/O and back it cannot become: its server would have to begin anew. */
static bool may_become(const struct vcpu *v, const struct vcpu_params *p)
{
	return v->params.type == p->type || v->params.type == BACKGROUND_VCPU || p->type == BACKGROUND_VCPU;
}

static int look_at(const struct sched *s, const struct vcpu_params *params, int instead, uint64_t now)
{
	if (instead >= 0 && !sched_vcpu(s, instead))
		return SCHED_NO_VCPU;
	if (!params_make_sense(params) || (instead >= 0 && !may_become(&s->vcpus[instead], params)))
		return SCHED_BAD_PARAMS;
	return instead < 0 && find_slot(s, now) == SCHED_VCPUS ? SCHED_FULL : 0;
}

/* What it has used delays a new VCPU of `owner`; else that is refused beside it. */
static bool answers(const struct vcpu *v, int owner)
{
	return v->params.owner == owner || v->params.owner == SCHED_NOBODY;
}

/* Behind the set: what is remembered of the owner of the new one and of nobody, or of all others. Returns the set's length with them. */
static unsigned int add_past(struct sched *s, unsigned int n, bool own, uint64_t now)
{
	struct sched_question *q = &s->question;
	uint64_t longest = longest_period(s);
	const struct vcpu *v;
	int id;

	if (q->params.type == MAIN_VCPU && q->params.period > longest)
		longest = q->params.period;
	for (id = 0; id < SCHED_VCPUS; id++) {
		v = &s->vcpus[id];
		if (id == q->instead || !unsettled(v, now) || !noticed(v, longest) || answers(v, q->params.owner) != own)
			continue;
		q->set[n] = v->past;
		q->settled[n++] = v->settled;
	}
	return n;
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
	if (instead >= 0)
		q->params.owner = s->vcpus[instead].params.owner;
	q->created = instead < 0 ? 0 : s->vcpus[instead].counts.created;
	q->begin = now;
	q->active = q->others = q->all = 0;
	if (params->type == BACKGROUND_VCPU)
		return;
	q->set[q->active++] = entry(params);
	for (id = 0; id < SCHED_VCPUS; id++)
		if (id != instead && s->vcpus[id].state == VCPU_ACTIVE && s->vcpus[id].params.type != BACKGROUND_VCPU)
			q->set[q->active++] = entry(&s->vcpus[id].params);
	q->others = add_past(s, q->active, false, now);
	q->all = add_past(s, q->others, true, now);
}

static bool beside(const struct sched *s, unsigned int n)
{
	return admission_beside(s->config.admission, s->question.set, s->question.active, n);
}

/* What is remembered of the owner and of nobody, the latest first. */
static void sort_own(struct sched_question *q)
{
	struct admission_entry past;
	uint64_t settled;
	unsigned int i, j;

	for (i = q->others + 1; i < q->all; i++) {
		past = q->set[i];
		settled = q->settled[i];
		for (j = i; j > q->others && q->settled[j - 1] < settled; j--) {
			q->set[j] = q->set[j - 1];
			q->settled[j] = q->settled[j - 1];
		}
		q->set[j] = past;
		q->settled[j] = settled;
	}
}

/* When so much of that is back that it may begin beside the rest. */
static uint64_t begin(struct sched *s)
{
	struct sched_question *q = &s->question;
	unsigned int low = q->others, high = q->all, middle;

	sort_own(q);
	while (low < high) {
		middle = (low + high + 1) / 2;
		if (beside(s, middle))
			low = middle;
		else
			high = middle - 1;
	}
	return low < q->all ? q->settled[low] : q->begin;
}

void sched_answer(struct sched *s)
{
	struct sched_question *q = &s->question;
	bool exact = s->config.admission == ADMISSION_EXACT;

	if (q->error)
		return;
	if (exact ? !admission_exact(q->set, q->active) : !admission_bound(q->set, q->active))
		q->error = exact ? SCHED_TOO_LATE : SCHED_OVER_BOUND;
	else if (q->others > q->active && !beside(s, q->others))
		q->error = SCHED_NOT_YET;
	else if (q->all > q->others)
		q->begin = begin(s);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int create(struct sched *s, uint64_t now)
{
	const struct sched_question *q = &s->question;
	int id = find_slot(s, now);
	struct vcpu *v = &s->vcpus[id];

	if (id == SCHED_VCPUS)
		return SCHED_FULL;
	*v = (struct vcpu){ .state = VCPU_ACTIVE, .params = q->params, .counts.created = now };
	server_of(v)->init(v, later(q->begin, now));
	return id;
}

static int set(struct sched *s, uint64_t now)
{
	const struct sched_question *q = &s->question;
	int id = q->instead;
	struct vcpu *v = &s->vcpus[id];
	bool anew = v->params.type != q->params.type;
	uint64_t at;

	if (v->state != VCPU_ACTIVE || v->counts.created != q->created)
		return SCHED_NO_VCPU;
	sched_charge(s, now);
	remember(v, now);
	at = later(v->settled, later(q->begin, now));
	v->params = q->params;
	v->used_then = v->counts.used;
	if (v->queue.head)
		readytree_remove(&s->ready, id);
	if (anew)
		server_of(v)->init(v, at);
	else
		server_of(v)->set(v, at);
	if (v->queue.head)
		readytree_insert(&s->ready, id, vcpu_key(v, id), server_of(v)->eligible(v));
	return 0;
}

void sched_give(struct sched *s, int id, int owner)
{
	s->vcpus[id].params.owner = owner;
}

void sched_inherit(struct sched *s, int owner, int heir)
{
	int id;

	for (id = 0; id < SCHED_VCPUS; id++)
		if (s->vcpus[id].state == VCPU_RETIRED && s->vcpus[id].params.owner == owner)
			s->vcpus[id].params.owner = heir;
}

unsigned int sched_owned(const struct sched *s, int owner, uint64_t now)
{
	const struct vcpu *v;
	unsigned int n = 0;

	for (v = s->vcpus; v < s->vcpus + SCHED_VCPUS; v++)
		n += v->params.owner == owner && (v->state == VCPU_ACTIVE || unsettled(v, now));
	return n;
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
