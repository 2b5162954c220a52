/* SPDX-License-Identifier: GPL-2.0-only */
/* Binds threads to VCPUs. The functions may be called from any context. */
#ifndef QUEST_BIND_H
#define QUEST_BIND_H

#include <stdbool.h>

struct thread;

/* Moves thread `t`, which may be the caller, to VCPU `id`. Returns 0 or SCHED_NO_VCPU. */
int vcpu_bind(struct thread *t, int id);

/*
 * Moves all threads that run on VCPU `from`, or have it as their own, to VCPU `to`. Lets others run
 * meanwhile.
 */
void vcpu_move_threads(int from, int to);

/* Returns whether VCPU `id` is a thread's own, even while the thread runs on an inherited one. */
bool vcpu_is_own(int id);

#endif
