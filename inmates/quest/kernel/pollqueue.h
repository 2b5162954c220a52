/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads that wait in poll(), and in calls of sockets. Interrupts are off in every call,
 * except that poll_wake() may be called from any thread.
 */
#ifndef QUEST_POLLQUEUE_H
#define QUEST_POLLQUEUE_H

#include <stdbool.h>
#include "waitqueue.h"

/*
 * The queue of threads that wait for the network, perhaps among others, and that of polls that wait
 * for other descriptors only. The I/O VCPU of the network inherits the shortest period of the first
 * one.
 */
struct wait_queue *poll_queue(bool network);

/* poll() begins and ends to wait on the first queue. */
void poll_mixed(int change);

/*
 * A descriptor that is no socket may be ready: all polls check again. Other threads run meanwhile.
 */
void poll_wake(void);

#endif
