/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes a program off the CPU with its VCPUs, as plain data, and puts it back. Its threads leave
 * the kernel: a waiting system call is cancelled, and begins again later with its old time limit.
 * The result is struct program_image (park.h), the physical pages of the address space, and a
 * process without threads.
 *
 * Both functions are for threads, with interrupts off, and let other threads run.
 */
#ifndef QUEST_MOVE_H
#define QUEST_MOVE_H

#include <stdbool.h>
#include "../../mm/kstack.h"

/* pages that a thread needs: its stack, and at most two page tables for it */
#define MOVE_THREAD_PAGES	(KSTACK_BYTES / PAGE_SIZE + 2)

struct process;

/*
 * Makes an image of process `pid`. Its threads leave the kernel on the caller's VCPU. With
 * `migrates` its VCPUs stay, without threads, and keep their share of the CPU, and slots and stacks
 * for its threads stay free, so that it can come back; else they exist in the image only. Returns 0
 * or minus an error; then the process continues. ESRCH; EBUSY: it has children, pipes, sockets or
 * shared memory, or without `migrates` channels, which cannot move; ENOMEM; ETIMEDOUT: one of its
 * threads has not left the kernel in time; EINTR: it is ending.
 */
int move_detach(int pid, bool migrates);

/*
 * Lets process `pid` continue. Returns 0 or minus an error: ESRCH, EAGAIN, ENOMEM. A VCPU that is
 * not admitted again becomes best effort.
 */
int move_attach(int pid);

/*
 * Functions for migration, on a process in state PROCESS_MOVING.
 *
 * move_image() gives it an empty image, which it does not have before; 0 or -ENOMEM. move_admit()
 * creates all its VCPUs and its threads, which do not run yet: 0 or minus an error: EAGAIN, EADMIT,
 * EINVAL, ENOMEM. In state PROCESS_DETACHED, move_attach() then succeeds, in one step.
 * move_discard() frees everything: the parent gets `status`.
 */
int move_image(struct process *p);
int move_admit(struct process *p);
void move_discard(struct process *p, int status);

#endif
