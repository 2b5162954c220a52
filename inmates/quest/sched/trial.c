// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admission's trial: may a VCPU with these parameters exist together with the others, and from when
 * on?
 *
 * A VCPU that is destroyed or made smaller must not take from others by being created again, so
 * what VCPUs have used in the past counts, too (past.h). Past use of the same owner, or of
 * SCHED_NOBODY, delays the new VCPU until enough of that use is settled. Past use of other owners
 * refuses it, as those VCPUs would if they still existed.
 */
#include "past.h"
#include "server.h"

static bool params_make_sense(const struct vcpu_params *p)
{
	if (p->type == BACKGROUND_VCPU)
		return !p->budget && !p->period;
	if (!p->budget || p->budget > p->period || p->period > ADMISSION_PERIOD_MAX)
		return false;
	return p->type == MAIN_VCPU || (p->type == IO_VCPU && p->budget < p->period);
}

/* A VCPU cannot change from Main to I/O or back: its server would have to start again. */
static bool may_become(const struct vcpu *v, const struct vcpu_params *p)
{
	return v->params.type == p->type || v->params.type == BACKGROUND_VCPU ||
	       p->type == BACKGROUND_VCPU;
}

/* Errors that need no admission test. Returns 0 or an enum sched_error. */
static int check(const struct sched *s, const struct vcpu_params *params, int instead, uint64_t now)
{
	if (instead >= 0 && !sched_vcpu(s, instead))
		return SCHED_NO_VCPU;
	if (!params_make_sense(params) || (instead >= 0 && !may_become(&s->vcpus[instead], params)))
		return SCHED_BAD_PARAMS;
	return instead < 0 && past_find_slot(s, now) == SCHED_VCPUS ? SCHED_FULL : 0;
}

static struct admission_entry entry(const struct vcpu_params *p)
{
	return (struct admission_entry){ p->type == IO_VCPU, p->budget, p->period };
}

/* The group of the VCPU on trial and those that exist. */
static void add_living(struct sched *s)
{
	struct sched_trial *t = &s->trial;
	const struct vcpu *v;
	int id;

	t->set[t->living++] = entry(&t->params);
	for (id = 0; id < SCHED_VCPUS; id++) {
		v = &s->vcpus[id];
		if (id != t->instead && v->state == VCPU_ACTIVE &&
		    v->params.type != BACKGROUND_VCPU)
			t->set[t->living++] = entry(&v->params);
	}
}

/* Returns whether the past use of `v` delays a new VCPU of `owner`, and does not refuse it. */
static bool delays(const struct vcpu *v, int owner)
{
	return v->params.owner == owner || v->params.owner == SCHED_NOBODY;
}

/*
 * Adds a group of past use behind the first `n` entries: use that delays the VCPU on trial
 * (`delaying`), or use that refuses it. Returns the number of entries with that group.
 */
static unsigned int add_past(struct sched *s, unsigned int n, bool delaying, uint64_t now)
{
	struct sched_trial *t = &s->trial;
	uint64_t longest = past_longest_period(s);
	const struct vcpu *v;
	int id;

	if (t->params.type == MAIN_VCPU && t->params.period > longest)
		longest = t->params.period;
	for (id = 0; id < SCHED_VCPUS; id++) {
		v = &s->vcpus[id];
		if (id == t->instead || !past_unsettled(v, now) || !past_noticed(v, longest) ||
		    delays(v, t->params.owner) != delaying)
			continue;
		t->set[n] = v->past;
		t->settled[n++] = v->settled;
	}
	return n;
}

void sched_trial_begin(struct sched *s, const struct vcpu_params *params, int instead, uint64_t now)
{
	struct sched_trial *t = &s->trial;

	t->params = *params;
	t->params.name[SCHED_NAME - 1] = 0;
	t->instead = instead;
	t->error = check(s, params, instead, now);
	if (t->error)
		return;
	if (instead >= 0)
		t->params.owner = s->vcpus[instead].params.owner;
	t->created = instead < 0 ? 0 : s->vcpus[instead].counts.created;
	t->begin = now;
	t->living = t->refusing = t->delaying = 0;
	if (params->type == BACKGROUND_VCPU)
		return;
	add_living(s);
	t->refusing = add_past(s, t->living, false, now);
	t->delaying = add_past(s, t->refusing, true, now);
}

/*
 * Returns whether the living keep their budgets together with the past use in the first `n`
 * entries.
 */
static bool fits_beside(const struct sched *s, unsigned int n)
{
	return admission_beside(s->config.admission, s->trial.set, s->trial.living, n);
}

/* The group of delaying past use in order of time; the use that is settled last comes first. */
static void sort_delaying(struct sched_trial *t)
{
	struct admission_entry past;
	uint64_t settled;
	unsigned int i, j;

	for (i = t->refusing + 1; i < t->delaying; i++) {
		past = t->set[i];
		settled = t->settled[i];
		for (j = i; j > t->refusing && t->settled[j - 1] < settled; j--) {
			t->set[j] = t->set[j - 1];
			t->settled[j] = t->settled[j - 1];
		}
		t->set[j] = past;
		t->settled[j] = settled;
	}
}

/*
 * The earliest time when so much of the delaying past use is settled that the VCPU fits together
 * with the rest.
 */
static uint64_t find_begin(struct sched *s)
{
	struct sched_trial *t = &s->trial;
	unsigned int low = t->refusing, high = t->delaying, middle;

	sort_delaying(t);
	while (low < high) {
		middle = (low + high + 1) / 2;
		if (fits_beside(s, middle))
			low = middle;
		else
			high = middle - 1;
	}
	return low < t->delaying ? t->settled[low] : t->begin;
}

void sched_trial_decide(struct sched *s)
{
	struct sched_trial *t = &s->trial;
	bool exact = s->config.admission == ADMISSION_EXACT;

	if (t->error)
		return;
	if (exact ? !admission_exact(t->set, t->living) : !admission_bound(t->set, t->living))
		t->error = exact ? SCHED_TOO_LATE : SCHED_OVER_BOUND;
	else if (t->refusing > t->living && !fits_beside(s, t->refusing))
		t->error = SCHED_NOT_YET;
	else if (t->delaying > t->refusing)
		t->begin = find_begin(s);
}
