/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Indices of a shared ring. The other side may have written any value to them.
 * They only count up (mod 2^32); `length` is a power of two.
 */
#ifndef INMATE_RING_H
#define INMATE_RING_H

#include <stdbool.h>
#include <stdint.h>

static inline bool ring_valid(uint32_t head, uint32_t tail, uint32_t length)
{
	return head - tail <= length;
}

static inline uint32_t ring_slot(uint32_t index, uint32_t length)
{
	return index & (length - 1);
}

/*
 * Returns how many bytes a reader at `tail` may take if the peer's index is `head`. Returns 0 if
 * `head` is invalid, since it cannot be trusted at all.
 */
static inline uint32_t ring_readable(uint32_t head, uint32_t tail, uint32_t length)
{
	return ring_valid(head, tail, length) ? head - tail : 0;
}

#endif
