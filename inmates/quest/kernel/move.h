/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program taken off the CPU with its VCPUs, as plain data, and put back. Its threads leave the kernel: a call that waits
 * is given up and begins again later, with the time that it was to end. What is left is struct program_image, the address
 * space by its physical pages, and a process that has no threads.
 *
 * For threads, with interrupts off; they let others run.
 */
#ifndef QUEST_MOVE_H
#define QUEST_MOVE_H

#include <stdbool.h>
#include <stddef.h>
#include "../arch/user.h"
#include "process.h"

#define MOVE_VCPUS	17		/* of one program: those it may make, and what it was started on */
#define VCPU_PLAIN	offsetof(struct vcpu, queue)

struct thread_image {
	struct trap_frame frame;	/* in ring 3, before the call that begins again */
	struct fpu_state fpu;
	struct call_restart restart;
	unsigned int slot;
	int vcpu;			/* its own, by the id that it had */
};

struct vcpu_image {
	int id;				/* that it had */
	int io_class;
	uint8_t plain[VCPU_PLAIN];	/* struct vcpu without what belongs to this kernel */
};

struct program_image {
	unsigned int num_threads, num_vcpus;
	struct thread_image threads[STACKS_MAX];
	struct vcpu_image vcpus[MOVE_VCPUS];
};

/*
 * Process `pid` becomes an image. 0, or minus an error, and it goes on as before: ESRCH, EBUSY (it has children, pipes or
 * shared memory, which stay behind), ENOMEM, ETIMEDOUT (a thread of it has not left the kernel in time).
 */
int move_detach(int pid);

/* It goes on. 0, or minus an error: ESRCH, EAGAIN or ENOMEM. VCPUs that are not admitted any more: best effort. */
int move_attach(int pid);

/* For process.c: the current thread, about to go on in ring 3 with `frame`, becomes part of its process's image. */
_Noreturn void move_park(struct trap_frame *frame);

/* For process.c: a thread has ended. */
void move_look_again(void);

#endif
