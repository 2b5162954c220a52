/* SPDX-License-Identifier: GPL-2.0-only */
/* Many measurements of one thing, and how they are spread. */
#ifndef QUEST_SAMPLES_H
#define QUEST_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

struct samples {
	uint32_t *values;	/* cycles; NULL: not open */
	uint32_t room, n;
};

/* Room for `room` (> 0) measurements. False: no memory, and nothing needs to be closed. */
bool samples_open(struct samples *s, uint32_t room);
void samples_close(struct samples *s);

/* One more, cut to 32 bits; nothing where there is no room left. */
void samples_add(struct samples *s, uint64_t cycles);

/* "WHAT rounds=N min=A p50=B p99=C p99.99=D max=E", in cycles; sorts them. There is one at least. */
void samples_print(struct samples *s, const char *what);

#endif
