/* SPDX-License-Identifier: GPL-2.0-only */
/* Measurements of one quantity, and their distribution. */
#ifndef QUEST_SAMPLES_H
#define QUEST_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

struct samples {
	uint32_t *values;	/* measurements in cycles; NULL: samples_open() was not called */
	uint32_t room, n;
};

/*
 * Makes room for `room` (> 0) measurements. Returns false if there is no memory; then
 * samples_close() is not needed.
 */
bool samples_open(struct samples *s, uint32_t room);
void samples_close(struct samples *s);

/* Adds a measurement, limited to 32 bits. Does nothing if there is no room left. */
void samples_add(struct samples *s, uint64_t cycles);

/*
 * Prints "WHAT rounds=N min=A p50=B p99=C p99.99=D max=E", in cycles. There must be at least one
 * value. Sorts the values.
 */
void samples_print(struct samples *s, const char *what);

#endif
