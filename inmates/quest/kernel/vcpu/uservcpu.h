/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VCPUs of programs: their owners, and their parameters in Quest's units. The functions return 0
 * (or an id), or minus an error.
 */
#ifndef QUEST_USERVCPU_H
#define QUEST_USERVCPU_H

#include <stdbool.h>
#include "../../user/include/quest/types.h"
#include "vcpu.h"

struct thread;

/* The VCPU that the shell creates for a command: 20/100, as in the papers. */
#define COMMAND_C	20
#define COMMAND_T	100

/*
 * Creates a VCPU of process `owner` (KERNEL_PID: the kernel). The name is for display. Returns the
 * id of the VCPU.
 */
int uservcpu_create(const char *name, const struct sched_param *p, int owner);

/* Makes process `pid` the owner of VCPU `id`, which belongs to the kernel. */
void uservcpu_give(int id, int pid);

int uservcpu_destroy(int id, bool force, int owner);
int uservcpu_get(int id, struct sched_param *p);

/* Returns the rest of the budget of VCPU `id` until its next replenishment. */
uint64_t uservcpu_left_us(int id);
int uservcpu_set(int id, const struct sched_param *p, int owner);

/*
 * Thread `t` runs on VCPU `id` from now on. A process may use its own VCPUs, its parent's and
 * BEST_EFFORT_VCPU.
 */
int uservcpu_bind(struct thread *t, int id);

/* Returns whether process `pid` may have threads on VCPU `id`. */
bool uservcpu_usable(int id, int pid);

/*
 * Destroys the VCPUs of process `pid`. Threads on them continue at best effort. The parent of the
 * process becomes the owner of their past use.
 */
void uservcpu_process_ends(int pid);

/* Returns whether VCPU `id` is one of process `pid`'s own. */
bool uservcpu_owned(int id, int pid);

/*
 * uservcpu_take() removes a VCPU whose program leaves the CPU; it must have no threads.
 * uservcpu_put() creates it again from `was`; it returns the id, or minus an error.
 */
void uservcpu_take(int id);
int uservcpu_put(const struct vcpu *was, int io_class);

#endif
