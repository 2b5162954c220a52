/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VCPUs of this kernel: sched/ with the clock and the lock around it. vcpu_create() and vcpu_set() are for threads and let
 * interrupts in, one caller at a time; the others are from any context.
 */
#ifndef QUEST_VCPU_H
#define QUEST_VCPU_H

#include <stdbool.h>
#include <stdint.h>
#include "../../sched/sched.h"

/* There from the start, with these parameters or those of the command line (namedvcpu.h). Others are free for programs. */
enum {
	BEST_EFFORT_VCPU,		/* Main 10/100 ms: who has no VCPU of its own */
	SYSTEM_VCPU,			/* Main 1/50 ms: the heartbeat */
	SHELL_VCPU,			/* Main 10/100 ms */
	INPUT_VCPU,			/* I/O 2 %: keys, requests, what doorbells and devices bring */
	VCPU_FIXED
};

/* Create them; a set that the admission test refuses ends in a panic. */
void vcpus_init(void);

/* `budget_us` per `period_us`, for process `owner` (KERNEL_PID: the kernel). Returns the id, or an enum sched_error: sched_error_text() tells why. */
int vcpu_create(const char *name, enum vcpu_type type, uint64_t budget_us, uint64_t period_us, int owner);

/* One that was detached, with what it has used. Returns the id, or an enum sched_error. */
int vcpu_restore(const struct vcpu *was);

/* Microseconds until VCPU `id` has budget; 0: it has some, or there is none such. A new one may have to wait (sched/trial.c). */
uint64_t vcpu_begins_in_us(int id);

/* 0 or an enum sched_error. Threads must be unbound (ended) first; the fixed VCPUs are in use for ever. */
int vcpu_destroy(int id);

/* Other budget and period. 0 or an enum sched_error, then nothing has changed. */
int vcpu_set(int id, uint64_t budget_us, uint64_t period_us);

/*
 * Of the fixed ones: the id of that name, or SCHED_NO_VCPU; other parameters, of the same type or BACKGROUND_VCPU; those that it
 * has by itself. 0 or an enum sched_error.
 */
int vcpu_fixed_find(const char *name);
int vcpu_fixed_set(int id, enum vcpu_type type, uint64_t budget_us, uint64_t period_us);
int vcpu_fixed_default(int id);

/* A copy of VCPU `id` (0..SCHED_VCPUS - 1), its time charged up to now, its queue of threads meaningless. False: none. */
bool vcpu_snapshot(int id, struct vcpu *copy);

#endif
