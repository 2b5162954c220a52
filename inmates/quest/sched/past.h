/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Past use is CPU time that a VCPU had used when it was destroyed or got other parameters, and that
 * was not replenished yet. The admission test counts it as if the VCPU still existed (`past` of
 * struct vcpu), until it would have been replenished (`settled`). Otherwise a program could get
 * more CPU time by creating the VCPU again at once. For sched/ only.
 */
#ifndef QUEST_PAST_H
#define QUEST_PAST_H

#include "sched.h"

/* Returns whether past use of `v` still counts. */
bool past_unsettled(const struct vcpu *v, uint64_t now);

/*
 * Stores the use of `v` under its present parameters as past use. Call it before the parameters
 * change.
 */
void past_remember(struct vcpu *v, uint64_t now);

/* Returns the longest period of the Main VCPUs that exist. */
uint64_t past_longest_period(const struct sched *s);

/*
 * Returns whether the past use of `v` can delay VCPUs whose periods are at most `longest`. Use by a
 * VCPU with a longer period cannot, since its priority was lower.
 */
bool past_interferes(const struct vcpu *v, uint64_t longest);

/*
 * Returns an id for a new VCPU: the lowest free id. If none is free, returns the lowest id of a
 * destroyed VCPU whose past use delays no other VCPU; SCHED_VCPUS if there is no such id.
 */
int past_find_slot(const struct sched *s, uint64_t now);

#endif
