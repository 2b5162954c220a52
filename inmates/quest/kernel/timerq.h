/* SPDX-License-Identifier: GPL-2.0-only */
/* Events in order of time. Pure: the caller brings the clock. */
#ifndef QUEST_TIMERQ_H
#define QUEST_TIMERQ_H

#include <stdbool.h>
#include <stdint.h>

struct timer_event {
	struct timer_event *next;
	uint64_t at;			/* TSC */
	bool queued;
};

struct timerq {
	struct timer_event *head;
};

/* Queue `e` for time `at`, behind others of the same time. It must not be queued. */
void timerq_add(struct timerq *q, struct timer_event *e, uint64_t at);
void timerq_remove(struct timerq *q, struct timer_event *e);

/* Take the earliest event that is due at `now`; NULL: none. */
struct timer_event *timerq_expire(struct timerq *q, uint64_t now);

/* When the earliest is due; UINT64_MAX: none. */
uint64_t timerq_next(const struct timerq *q);

#endif
