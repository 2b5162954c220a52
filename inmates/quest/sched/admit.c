// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admission of a VCPU: decides whether it may exist together with the other VCPUs, and when its
 * first budget begins.
 *
 * A VCPU that is destroyed or made smaller, and created again, must not take CPU time from others.
 * So CPU time that VCPUs used in the past counts, too (past.h). Past use of the same owner, or of
 * SCHED_NO_OWNER, delays the new VCPU until enough of that use is replenished. Past use of other
 * owners can make the test reject the new VCPU, as if the destroyed VCPUs still existed.
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

/* A VCPU cannot change from Main to I/O or back, since these servers keep different state. */
static bool may_become(const struct vcpu *v, const struct vcpu_params *p)
{
	return v->params.type == p->type || v->params.type == BACKGROUND_VCPU ||
	       p->type == BACKGROUND_VCPU;
}

/* Finds errors in a request before the admission test. Returns 0 or an enum sched_error. */
static int check(const struct sched *s, const struct vcpu_params *params, int replaces,
		 uint64_t now)
{
	if (replaces >= 0 && !sched_vcpu(s, replaces))
		return SCHED_NO_VCPU;
	if (!params_make_sense(params) ||
	    (replaces >= 0 && !may_become(&s->vcpus[replaces], params)))
		return SCHED_BAD_PARAMS;
	return replaces < 0 && past_find_slot(s, now) == SCHED_VCPUS ? SCHED_FULL : 0;
}

static struct admission_entry entry(const struct vcpu_params *p)
{
	return (struct admission_entry){ p->type == IO_VCPU, p->budget, p->period };
}

/* Adds group 1: the requested VCPU and the existing VCPUs. */
static void add_existing(struct sched *s)
{
	struct admission_request *r = &s->request;
	const struct vcpu *v;
	int id;

	r->set[r->existing_end++] = entry(&r->params);
	for (id = 0; id < SCHED_VCPUS; id++) {
		v = &s->vcpus[id];
		if (id != r->replaces && v->state == VCPU_ACTIVE &&
		    v->params.type != BACKGROUND_VCPU)
			r->set[r->existing_end++] = entry(&v->params);
	}
}

/*
 * Returns whether past use of `v` delays a new VCPU of `owner`. If not, it can only reject the new
 * VCPU.
 */
static bool delays(const struct vcpu *v, int owner)
{
	return v->params.owner == owner || v->params.owner == SCHED_NO_OWNER;
}

/* Returns the longest period of the requested VCPU and those that exist. */
static uint64_t longest_period(const struct sched *s)
{
	const struct vcpu_params *p = &s->request.params;
	uint64_t longest = past_longest_period(s);

	return p->type == MAIN_VCPU && p->period > longest ? p->period : longest;
}

/*
 * Adds group 2 (past use that rejects the requested VCPU) or, if `delaying`, group 3 behind the
 * first `n` entries. Returns the new number of entries.
 */
static unsigned int add_past(struct sched *s, unsigned int n, bool delaying, uint64_t longest,
			     uint64_t now)
{
	struct admission_request *r = &s->request;
	const struct vcpu *v;
	int id;

	for (id = 0; id < SCHED_VCPUS; id++) {
		v = &s->vcpus[id];
		if (id == r->replaces || !past_unsettled(v, now) || !past_interferes(v, longest) ||
		    delays(v, r->params.owner) != delaying)
			continue;
		r->set[n] = v->past;
		r->settled[n++] = v->settled;
	}
	return n;
}

void sched_admission_begin(struct sched *s, const struct vcpu_params *params, int replaces,
			   uint64_t now)
{
	struct admission_request *r = &s->request;
	uint64_t longest;

	r->params = *params;
	r->params.name[SCHED_NAME - 1] = 0;
	r->replaces = replaces;
	r->error = check(s, params, replaces, now);
	if (r->error)
		return;
	if (replaces >= 0)
		r->params.owner = s->vcpus[replaces].params.owner;
	r->created = replaces < 0 ? 0 : s->vcpus[replaces].counts.created;
	r->start = now;
	r->existing_end = r->rejecting_end = r->delaying_end = 0;
	if (params->type == BACKGROUND_VCPU)
		return;
	add_existing(s);
	longest = longest_period(s);
	r->rejecting_end = add_past(s, r->existing_end, false, longest, now);
	r->delaying_end = add_past(s, r->rejecting_end, true, longest, now);
}

/*
 * Returns whether the VCPUs of group 1 still get their budgets with the past use in the first `n`
 * entries.
 */
static bool fits_with_past(const struct sched *s, unsigned int n)
{
	return admission_with_past(s->config.admission, s->request.set, s->request.existing_end,
				   n);
}

/* Sorts group 3 by the time when the use no longer counts, the latest first. */
static void sort_delaying(struct admission_request *r)
{
	struct admission_entry past;
	uint64_t settled;
	unsigned int i, j;

	for (i = r->rejecting_end + 1; i < r->delaying_end; i++) {
		past = r->set[i];
		settled = r->settled[i];
		for (j = i; j > r->rejecting_end && r->settled[j - 1] < settled; j--) {
			r->set[j] = r->set[j - 1];
			r->settled[j] = r->settled[j - 1];
		}
		r->set[j] = past;
		r->settled[j] = settled;
	}
}

/*
 * Returns the earliest time at which the VCPU may begin: enough past use of group 3 no longer
 * counts, so that the VCPU is admitted with the rest.
 */
static uint64_t find_start(struct sched *s)
{
	struct admission_request *r = &s->request;
	unsigned int low = r->rejecting_end, high = r->delaying_end, middle;

	sort_delaying(r);
	while (low < high) {
		middle = (low + high + 1) / 2;
		if (fits_with_past(s, middle))
			low = middle;
		else
			high = middle - 1;
	}
	return low < r->delaying_end ? r->settled[low] : r->start;
}

void sched_admission_test(struct sched *s)
{
	struct admission_request *r = &s->request;
	bool exact = s->config.admission == ADMISSION_EXACT;

	if (r->error)
		return;
	if (!admission_admits(s->config.admission, r->set, r->existing_end))
		r->error = exact ? SCHED_MISSES_PERIOD : SCHED_OVER_BOUND;
	else if (r->rejecting_end > r->existing_end && !fits_with_past(s, r->rejecting_end))
		r->error = SCHED_NOT_YET;
	else if (r->delaying_end > r->rejecting_end)
		r->start = find_start(s);
}
