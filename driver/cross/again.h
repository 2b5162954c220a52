/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_AGAIN_H
#define QV_AGAIN_H

#include "abi/errors.h"

/*
 * Returns true if a hypercall must be tried again after @result. @begin: when this try began, @end:
 * the deadline. A try that begins after the deadline is the last one. So a thread that slept past
 * the deadline has another try, and the bell that it rings is not lost.
 */
static inline bool call_again(u64 result, u64 begin, u64 end)
{
	return (result == QV_ME_BUSY || result == QV_ME_RATE) && begin < end;
}

#endif
