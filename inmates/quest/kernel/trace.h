/* SPDX-License-Identifier: GPL-2.0-only */
/* Records which thread had the CPU, and when. A ring holds the latest switches. */
#ifndef QUEST_TRACE_H
#define QUEST_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include "thread.h"

#define TRACE_LENGTH	1024		/* number of entries that are kept by default */
/* largest number of entries; both numbers are powers of two */
#define TRACE_MAX	65536

struct trace_entry {
	uint64_t at;			/* TSC */
	int vcpu;			/* -1: idle */
	bool background;
	char name[THREAD_NAME];		/* name of the thread */
};

/* Records that `t` has the CPU from `at` on, unless `t` had it already. Interrupts are off. */
void trace_switch(const struct thread *t, bool background, uint64_t at);

/*
 * Keeps `length` entries (a power of two up to TRACE_MAX) from now on, and drops those kept so far.
 * Returns false if there is no memory.
 */
bool trace_resize(uint32_t length);

/* Records nothing while `pause`, so that printing the trace does not change it. */
void trace_pause(bool pause);

/* Return the number of entries, and entry `i`; entry 0 is the oldest one. Pause the trace first. */
uint32_t trace_count(void);
const struct trace_entry *trace_get(uint32_t i);

#endif
