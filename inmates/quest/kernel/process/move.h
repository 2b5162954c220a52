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

/*
 * Makes an image of process `pid`. Returns 0 or minus an error; then the process continues. ESRCH;
 * EBUSY: it has children, pipes, shared memory or channels, which cannot move; ENOMEM; ETIMEDOUT:
 * one of its threads has not left the kernel in time.
 */
int move_detach(int pid);

/*
 * Lets process `pid` continue. Returns 0 or minus an error: ESRCH, EAGAIN, ENOMEM. A VCPU that is
 * not admitted again becomes best effort.
 */
int move_attach(int pid);

#endif
