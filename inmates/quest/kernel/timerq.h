/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads that sleep, by their VCPUs. A thread need not wake before its VCPU could run. So many
 * threads that wake at the same time take no time from VCPUs of higher priority, and while their
 * VCPU has no budget, from no VCPU that has some. Pure: the caller reads the clock.
 */
#ifndef QUEST_TIMERQ_H
#define QUEST_TIMERQ_H

#include <stdbool.h>
#include <stdint.h>
#include "../sched/sched.h"

#define TIMERQ_MAX	320		/* number of events */

struct timer_event {
	uint64_t at;			/* TSC */
	uint64_t turn;			/* number of the addition */
	/*
	 * The events of a VCPU are a leftist heap (Crane 1972): an event precedes those below it,
	 * and the shortest way down, of `rank` events, is to the right.
	 */
	struct timer_event *up, *left, *right;
	unsigned int rank;
	int vcpu;
	bool queued;
};

struct timerq {
	/*
	 * VCPUs that have had events, and the time from which on their first one is due and they
	 * have budget. Those that have budget later than it is due are also in `depleted`, with
	 * the time at which it is due. UINT64_MAX: no event.
	 */
	struct readytree usable, depleted;
	bool in_trees[SCHED_VCPUS];
	struct timer_event *first[SCHED_VCPUS];
	uint64_t turns;			/* number of additions */
};

void timerq_init(struct timerq *q);

/*
 * Adds `e` for a thread on VCPU `vcpu` at time `at`, behind other events of the VCPU at that time.
 * `e` must not be queued.
 */
void timerq_add(struct timerq *q, const struct sched *s, struct timer_event *e, int vcpu,
		uint64_t at);

/* Removes `e`; does nothing if it is not queued. */
void timerq_remove(struct timerq *q, const struct sched *s, struct timer_event *e);

/*
 * The budget of VCPU `vcpu`, or its period, and so its priority, has changed. Without this call,
 * threads wake too early if the VCPU has used budget, and too late if it has got some.
 */
void timerq_update(struct timerq *q, const struct sched *s, int vcpu);

/*
 * Returns an event that is due at `now`; NULL: none is due on a VCPU that could run. While a VCPU
 * is in the foreground, such a VCPU has budget and a higher priority. VCPU `ran` ran until now (-1:
 * none). If it is still in the foreground, more of its threads wake at its expense.
 */
struct timer_event *timerq_due(const struct timerq *q, const struct sched *s, int ran,
			       uint64_t now);

/* Returns the earliest time for which timerq_due() may return an event; UINT64_MAX: none. */
uint64_t timerq_next(const struct timerq *q, const struct sched *s, uint64_t now);

/*
 * Returns since when VCPU `vcpu` counts as runnable if one of its threads wakes at `now`: the time
 * at which its first sleeper was due, or `now` if none is due.
 */
uint64_t timerq_since(const struct timerq *q, int vcpu, uint64_t now);

#endif
