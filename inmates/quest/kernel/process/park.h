/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The image of a program that leaves the CPU with its VCPUs (move.h): plain data. Its threads put
 * themselves into it. Interrupts are off in every call.
 */
#ifndef QUEST_PARK_H
#define QUEST_PARK_H

#include <stdbool.h>
#include <stddef.h>
#include "../../arch/user.h"
#include "process.h"

#define MOVE_VCPUS	17		/* of a program: its own, and the one it started on */
#define VCPU_PLAIN	offsetof(struct vcpu, queue)

struct thread_image {
	struct trap_frame frame;	/* in ring 3, before the call that begins again */
	struct fpu_state fpu;
	struct call_restart restart;
	unsigned int slot;
	int vcpu;			/* its own VCPU, by the id before the move */
};

struct vcpu_image {
	int id;				/* before the move */
	int io_class;
	uint8_t plain[VCPU_PLAIN];	/* struct vcpu without what refers to this kernel */
};

struct program_image {
	unsigned int num_threads, num_vcpus;
	struct thread_image threads[STACKS_MAX];
	struct vcpu_image vcpus[MOVE_VCPUS];
};

/* The current thread, about to return to ring 3 at `frame`, becomes part of its process's image. */
_Noreturn void park_thread(struct trap_frame *frame);

/* A thread of some process has ended or has been parked: threads in park_wait() check again. */
void park_wake_movers(void);

/* Waits for park_wake_movers(). Returns false if TSC `until` came first. */
bool park_wait(uint64_t until);

#endif
