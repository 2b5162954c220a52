/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program that drives the network function (user/include/quest/nic.h). It has the function's
 * registers, memory for DMA and that for frames, and waits on the function's VCPU for work. One
 * program has the function at a time. Interrupts are off in calls of programs.
 */
#ifndef QUEST_USERDRIVER_H
#define QUEST_USERDRIVER_H

#include <stdbool.h>
#include <stdint.h>
#include "../user/include/quest/nic.h"

struct process;

/* Processes whose number of a component is `component` may drive the function. */
void userdriver_allow(int component);

/*
 * For the thread `net`, before and after its work. userdriver_begin() returns whether the driver
 * has said the function's address. userdriver_end() wakes the driver if there is work for it, and
 * ends it if it has said something impossible.
 */
bool userdriver_begin(void);
void userdriver_end(void);

/* Whether the function interrupts, from the next driver on. */
void userdriver_set_polled(bool polled);

/*
 * Resets the function and gives it to `p`. Returns 0 or minus an error: ENETDOWN: no function waits
 * for a program, or it cannot be used; EPERM: `p` is not its driver; EBUSY: it has the function
 * already; ENOMEM; EINTR.
 */
int userdriver_open(struct process *p, struct quest_nic *to);

/*
 * Tells the kernel of received frames, and waits until there is work for the driver since this
 * call returned `seen`, or until TSC `until`. Returns a number, which is another one after each
 * event; or minus an error: EBADF: `p` does not have the function; EINTR.
 */
long userdriver_wait(const struct process *p, uint32_t seen, uint64_t until);

/* Returns whether `p` has the function, and so cannot move to another cell. */
bool userdriver_used(const struct process *p);

/* Call it when `p` ends or runs another program: the function is stopped. */
void userdriver_leave(const struct process *p);

#endif
