/* SPDX-License-Identifier: GPL-2.0-only */
/* VCPUs as programs ask for them: whose they are, Quest's parameters. Answers are 0 (an id) or minus an error. */
#ifndef QUEST_USERVCPU_H
#define QUEST_USERVCPU_H

#include <stdbool.h>
#include "../../user/include/quest/types.h"
#include "vcpu.h"

struct thread;

/* What the shell gives a command: the papers' 20/100. */
#define COMMAND_C	20
#define COMMAND_T	100

/* A VCPU of process `owner` (KERNEL_PID: the kernel's), with a name for people. Its id. */
int uservcpu_create(const char *name, const struct sched_param *p, int owner);

/* Make one of the kernel's the VCPU of process `pid`. */
void uservcpu_give(int id, int pid);

int uservcpu_destroy(int id, bool force, int owner);
int uservcpu_get(int id, struct sched_param *p);

/* What is left of the budget of VCPU `id`, before it is next replenished. */
uint64_t uservcpu_left_us(int id);
int uservcpu_set(int id, const struct sched_param *p, int owner);

/* `t` runs on it from now on. A process may use its own, its parent's and BEST_EFFORT_VCPU. */
int uservcpu_bind(struct thread *t, int id);

/* May process `pid` have its threads on it? */
bool uservcpu_usable(int id, int pid);

/* Its VCPUs go; who runs on them goes on at best effort. What they have used is its parent's to answer for. */
void uservcpu_process_ends(int pid);

/* Is it one of process `pid`'s own? */
bool uservcpu_owned(int id, int pid);

/* A program leaves with its VCPU, on which no thread is any more; one comes with `was`: its id, or minus an error. */
void uservcpu_take(int id);
int uservcpu_put(const struct vcpu *was, int io_class);

#endif
