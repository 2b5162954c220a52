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

/* largest number of VCPUs of a program: its own ones, and its first VCPU */
#define MOVE_VCPUS	17
#define VCPU_PLAIN	offsetof(struct vcpu, queue)

struct thread_image {
	/* registers in ring 3 before the system call, which begins again after the move */
	struct trap_frame frame;
	struct fpu_state fpu;
	struct call_restart restart;
	unsigned int slot;
	int vcpu;			/* id that the thread's own VCPU had before the move */
};

struct vcpu_image {
	int id;				/* id of the VCPU before the move */
	int io_class;
	/* struct vcpu without the fields that refer to this kernel */
	uint8_t plain[VCPU_PLAIN];
};

struct program_image {
	unsigned int num_threads, num_vcpus;
	int vcpu;			/* as in struct process: VCPU of new threads */
	bool keeps_vcpus;		/* the VCPUs exist still: move_detach() */
	/* the first ones of the threads have been created, and do not run yet */
	unsigned int prepared;
	/* so many of the others are promised a slot (threadslot.h): all, or none of them */
	unsigned int promised;
	struct thread *made[STACKS_MAX];
	struct thread_image threads[STACKS_MAX];
	struct vcpu_image vcpus[MOVE_VCPUS];
};

/*
 * Stores the current thread, which is about to return to ring 3 at `frame`, in the image of its
 * process.
 */
_Noreturn void park_thread(struct trap_frame *frame);

/*
 * Call it when a thread has ended or has been parked, so that threads in park_wait() check again.
 */
void park_wake_movers(void);

/* Waits for park_wake_movers(). Returns false if TSC `until` came first. */
bool park_wait(uint64_t until);

#endif
