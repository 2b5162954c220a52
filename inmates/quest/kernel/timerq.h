/* SPDX-License-Identifier: GPL-2.0-only */
/* Events in order of time, in a heap: adding and taking cost O(log n). Pure: the caller brings the clock. */
#ifndef QUEST_TIMERQ_H
#define QUEST_TIMERQ_H

#include <stdbool.h>
#include <stdint.h>

#define TIMERQ_MAX	320

struct timer_event {
	uint64_t at;			/* TSC */
	uint64_t order;			/* among those of the same time */
	uint32_t place;			/* in the heap */
	bool queued;
};

struct timerq {
	uint64_t added;			/* so far */
	uint32_t length;
	struct timer_event *heap[TIMERQ_MAX];	/* each before its children, 2i + 1 and 2i + 2 */
};

/* Queue `e` for time `at`, behind others of the same time. It must not be queued; at most TIMERQ_MAX are. */
void timerq_add(struct timerq *q, struct timer_event *e, uint64_t at);

/* Nothing if it is not queued. */
void timerq_remove(struct timerq *q, struct timer_event *e);

/* Take the earliest event that is due at `now`; NULL: none. */
struct timer_event *timerq_expire(struct timerq *q, uint64_t now);

/* When the earliest is due; UINT64_MAX: none. */
uint64_t timerq_next(const struct timerq *q);

#endif
