/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A heap of events, ordered by time. Adding and removing cost O(log n). Pure: the caller reads the
 * clock.
 */
#ifndef QUEST_TIMERQ_H
#define QUEST_TIMERQ_H

#include <stdbool.h>
#include <stdint.h>

#define TIMERQ_MAX	320

struct timer_event {
	uint64_t at;			/* TSC */
	/* of two events at the same time, the one with the smaller number comes first */
	uint64_t order;
	uint32_t place;			/* index of the event in the heap */
	bool queued;
};

struct timerq {
	uint64_t added;			/* number of events ever added */
	uint32_t length;
	/* each entry comes before its children, 2i + 1 and 2i + 2 */
	struct timer_event *heap[TIMERQ_MAX];
};

/*
 * Adds `e` at time `at`, behind other events at that time. `e` must not be queued. There is room
 * for TIMERQ_MAX events.
 */
void timerq_add(struct timerq *q, struct timer_event *e, uint64_t at);

/* Removes `e`; does nothing if it is not queued. */
void timerq_remove(struct timerq *q, struct timer_event *e);

/* Removes the earliest event that is due at `now`. Returns NULL if no event is due. */
struct timer_event *timerq_expire(struct timerq *q, uint64_t now);

/* Returns the time of the earliest event; UINT64_MAX if the heap is empty. */
uint64_t timerq_next(const struct timerq *q);

#endif
