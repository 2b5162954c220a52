/* SPDX-License-Identifier: GPL-2.0-only */
/* Which VCPU a thread runs on. From any context. */
#ifndef QUEST_BIND_H
#define QUEST_BIND_H

#include <stdbool.h>

struct thread;

/* Thread `t`, which may be the caller, goes on on VCPU `id`. Returns 0 or SCHED_NO_VCPU. */
int vcpu_bind(struct thread *t, int id);

/* The threads on VCPU `from`, and those that it is the own VCPU of, go on on VCPU `to`. */
void vcpu_move_threads(int from, int to);

/* Returns whether VCPU `id` is a thread's own, even while the thread runs on an inherited one. */
bool vcpu_is_own(int id);

#endif
