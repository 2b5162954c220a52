/* SPDX-License-Identifier: GPL-2.0-only */
/* The VCPUs of this cell as the set of an admission test, for the bounds of messages (bounds.h). */
#ifndef QUEST_IPC_CELLSET_H
#define QUEST_IPC_CELLSET_H

#include "../sched/sched.h"
#include "bounds.h"

/* Makes `set` the VCPUs that have a budget, and `end` that of VCPU `id`, which is a Main VCPU. */
void cellset_end(struct bounds_end *end, struct admission_entry set[SCHED_VCPUS], int id);

/* Returns the first Main VCPU called `name`; SCHED_NO_VCPU: there is no such VCPU. */
int cellset_find(const char *name);

#endif
