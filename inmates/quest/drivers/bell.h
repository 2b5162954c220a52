/* SPDX-License-Identifier: GPL-2.0-only */
/* Bells of channels: interrupts by which another end says that it has written. */
#ifndef QUEST_BELL_H
#define QUEST_BELL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Sets the handlers of bells, if a channel has one. An I/O VCPU serves them. The vectors of all
 * bells should have one priority class. Returns false if there is no memory.
 */
bool bells_start(void);

/*
 * To wait for an item: take the number of bells, try, and if there is no item, wait for a bell that
 * came after that number was taken. So a bell in between is not lost. bell_wait() blocks the thread
 * on its VCPU, and returns false at TSC `at` (UINT64_MAX: no limit). Without a bell it sleeps for a
 * millisecond.
 */
uint64_t bell_count(unsigned int n);
bool bell_wait(unsigned int n, uint64_t seen, uint64_t at);

#endif
