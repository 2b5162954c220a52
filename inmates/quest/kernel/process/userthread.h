/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that run a program in ring 3. Interrupts are off in every call. */
#ifndef QUEST_USERTHREAD_H
#define QUEST_USERTHREAD_H

#include <inmate/trap.h>

struct process;
struct thread;

/*
 * Creates a thread of `p` that starts in ring 3 as `frame` says, with the FPU state of a program's
 * start. It gets no slot of the last `kept`. Returns 0 or minus an error (errors.h): EAGAIN: no
 * slot, ENOMEM.
 */
int userthread_create(struct thread **made, struct process *p, unsigned int slot,
		      const struct trap_frame *frame, unsigned int kept);

/*
 * The two steps of it. Between them the thread is of no process, and may change or be freed
 * (threadslot.h). The start cannot fail, and takes a short time.
 */
int userthread_prepare(struct thread **made, const struct process *p, unsigned int slot,
		       const struct trap_frame *frame, unsigned int kept);
void userthread_start(struct thread *t, struct process *p, int vcpu);

#endif
