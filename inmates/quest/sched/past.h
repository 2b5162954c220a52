/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPU time that VCPUs have used and that still counts, although they were destroyed or have other
 * parameters now: struct vcpu's `past` until time `settled`. For sched/ only.
 */
#ifndef QUEST_PAST_H
#define QUEST_PAST_H

#include "sched.h"

/* Returns whether `v` has used something that still counts. */
bool past_unsettled(const struct vcpu *v, uint64_t now);

/* Keeps in `v` what it has used under its present parameters, which are about to change. */
void past_remember(struct vcpu *v, uint64_t now);

/* Returns the longest period of the Main VCPUs that exist. */
uint64_t past_longest_period(const struct sched *s);

/*
 * Returns whether the past use of `v` takes anything from VCPUs whose periods are at most
 * `longest`. Use at the priority of a longer period does not.
 */
bool past_noticed(const struct vcpu *v, uint64_t longest);

/*
 * Returns an id for a new VCPU: a free one, else one whose past takes nothing from others;
 * SCHED_VCPUS if all ids are in use.
 */
int past_find_slot(const struct sched *s, uint64_t now);

#endif
