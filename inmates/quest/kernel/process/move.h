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

/*
 * Process `pid` becomes an image. 0, or minus an error, and it goes on as before: ESRCH, EBUSY (it has children, pipes or
 * shared memory, which stay behind), ENOMEM, ETIMEDOUT (a thread of it has not left the kernel in time).
 */
int move_detach(int pid);

/* It goes on. 0, or minus an error: ESRCH, EAGAIN or ENOMEM. VCPUs that are not admitted any more: best effort. */
int move_attach(int pid);

#endif
