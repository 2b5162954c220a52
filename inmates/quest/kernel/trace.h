/* SPDX-License-Identifier: GPL-2.0-only */
/* Who had the CPU when: the last changes, kept in a ring. */
#ifndef QUEST_TRACE_H
#define QUEST_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include "thread.h"

#define TRACE_LENGTH	1024		/* kept without being asked */
#define TRACE_MAX	65536		/* both powers of two */

struct trace_entry {
	uint64_t at;			/* TSC */
	int vcpu;			/* -1: idle */
	bool background;
	char name[THREAD_NAME];		/* of the thread */
};

/* From `at` on `t` has the CPU; the same as before is no change. Interrupts are off. */
void trace_switch(const struct thread *t, bool background, uint64_t at);

/* Keep `length` entries (a power of two up to TRACE_MAX) from now on; what was kept is gone. False: no memory. */
bool trace_resize(uint32_t length);

/* Note nothing while `pause`: for whoever prints. */
void trace_pause(bool pause);

/* Entries that are kept; the `i`-th of them, the oldest first. Pause first. */
uint32_t trace_count(void);
const struct trace_entry *trace_get(uint32_t i);

#endif
