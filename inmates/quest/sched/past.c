// SPDX-License-Identifier: GPL-2.0-only
#include "past.h"
#include "server.h"

bool past_unsettled(const struct vcpu *v, uint64_t now)
{
	return v->state != VCPU_FREE && v->settled > now;
}

/*
 * The use counts for one period at most, since it would have been replenished by then. If earlier
 * past use still counts, keep it, since the VCPU has had no budget since then.
 */
void past_remember(struct vcpu *v, uint64_t now)
{
	uint64_t settled = server_of(v)->settled(v), latest = now + vcpu_period(v);

	if (v->counts.used == v->used_then)
		return;
	if (!past_unsettled(v, now))
		v->past = (struct admission_entry){
			v->params.type == IO_VCPU, server_of(v)->outstanding(v, now),
			v->params.period };
	if (settled > latest)
		settled = latest;
	if (settled > v->settled)
		v->settled = settled;
}

uint64_t past_longest_period(const struct sched *s)
{
	uint64_t longest = 0;
	const struct vcpu *v;

	for (v = s->vcpus; v < s->vcpus + SCHED_VCPUS; v++)
		if (v->state == VCPU_ACTIVE && v->params.type == MAIN_VCPU &&
		    v->params.period > longest)
			longest = v->params.period;
	return longest;
}

bool past_interferes(const struct vcpu *v, uint64_t longest)
{
	return v->past.io || v->past.period <= longest;
}

int past_find_slot(const struct sched *s, uint64_t now)
{
	uint64_t longest = past_longest_period(s);
	int id, spare = SCHED_VCPUS;

	for (id = 0; id < SCHED_VCPUS; id++) {
		if (s->vcpus[id].state == VCPU_ACTIVE)
			continue;
		if (!past_unsettled(&s->vcpus[id], now))
			return id;
		if (spare == SCHED_VCPUS && !past_interferes(&s->vcpus[id], longest))
			spare = id;
	}
	return spare;
}
