/* SPDX-License-Identifier: GPL-2.0-only */
/* Channels of type memory by which cells recover each other's components. */
#ifndef QUEST_RECOVERY_MEMORY_H
#define QUEST_RECOVERY_MEMORY_H

#include <qv/end.h>

/*
 * Opens the channel `name`, and never closes it: a memory of `ends` cells, which this one alone
 * writes (`writes`) or another one. Returns its end, or NULL.
 */
const struct qv_end *memory_open(const char *name, bool writes, uint32_t ends, void **data,
				 uint64_t *bytes);

/* The life of the cell that writes the memory of `end`, which changes at any time. */
const uint64_t *memory_life(const struct qv_end *end);

#endif
