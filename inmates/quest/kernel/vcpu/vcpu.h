/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The VCPUs of this kernel. Calls the functions of sched/, with the present time and interrupts
 * off. vcpu_create() and vcpu_set() are for threads, enable interrupts meanwhile, and serve one
 * caller at a time. The other functions may be called from any context.
 */
#ifndef QUEST_VCPU_H
#define QUEST_VCPU_H

#include <stdbool.h>
#include <stdint.h>
#include "../../sched/sched.h"

/*
 * The least C of a VCPU with a budget, in us. When a VCPU preempts another one, a decision of some
 * 2 us is charged to the other, and admission does not count it. Without a least C, VCPUs of 1 us
 * could take thrice the time that admission gives them.
 */
#define VCPU_LEAST_US	10

/*
 * The fixed VCPUs, which exist from the start. They have the parameters below, or those of the
 * command line (namedvcpu.h). VCPUs of programs use the other ids.
 */
enum {
	/* Main 10/100 ms: for threads without a VCPU of their own */
	BEST_EFFORT_VCPU,
	SYSTEM_VCPU,			/* Main 1/50 ms: the heartbeat */
	SHELL_VCPU,			/* Main 10/100 ms */
	INPUT_VCPU,			/* I/O 2 %: keys, requests, doorbells, devices */
	VCPU_FIXED
};

/* Creates the fixed VCPUs. Panics if the admission test rejects one. */
void vcpus_init(void);

/*
 * Creates a VCPU of `budget_us` per `period_us` for process `owner` (KERNEL_PID: the kernel).
 * Returns the id, or an enum sched_error; sched_error_text() explains it.
 */
int vcpu_create(const char *name, enum vcpu_type type, uint64_t budget_us, uint64_t period_us,
		int owner);

/*
 * Creates a VCPU that was detached, its past use included. Returns the id, or an enum sched_error.
 */
int vcpu_restore(const struct vcpu *was);

/*
 * Returns the microseconds until VCPU `id` has budget; 0: it has budget now, or does not exist. A
 * new VCPU may have to wait (sched/admit.c).
 */
uint64_t vcpu_begins_in_us(int id);

/*
 * Destroys VCPU `id`, to which no thread may be bound. Returns 0 or an enum sched_error. The fixed
 * VCPUs are always in use.
 */
int vcpu_destroy(int id);

/* Changes budget and period. Returns 0, or an enum sched_error; then nothing has changed. */
int vcpu_set(int id, uint64_t budget_us, uint64_t period_us);

/*
 * Functions for the fixed VCPUs. vcpu_fixed_find() returns the id of a name, or SCHED_NO_VCPU.
 * vcpu_fixed_set() sets parameters, of the same type or BACKGROUND_VCPU. vcpu_fixed_default() sets
 * the default parameters. The last two return 0 or an enum sched_error.
 */
int vcpu_fixed_find(const char *name);
int vcpu_fixed_set(int id, enum vcpu_type type, uint64_t budget_us, uint64_t period_us);
int vcpu_fixed_default(int id);

/*
 * Copies VCPU `id` (0 to SCHED_VCPUS - 1), with its time charged up to now. Its queue of threads is
 * not valid. Returns false if it does not exist.
 */
bool vcpu_snapshot(int id, struct vcpu *copy);

#endif
