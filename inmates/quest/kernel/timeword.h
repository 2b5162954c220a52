/* SPDX-License-Identifier: GPL-2.0-only */
/* Times as people write them: 500us, 20ms, 1s. Pure. */
#ifndef QUEST_TIMEWORD_H
#define QUEST_TIMEWORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMEWORD_MAX_US	600000000		/* the longest time: 600 s */

/*
 * Reads a time from the `length` characters at `text`, in microseconds: 1 to TIMEWORD_MAX_US.
 * Returns false if they are not a time.
 */
bool timeword_read(const char *text, size_t length, uint64_t *us);

#endif
