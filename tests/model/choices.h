/* SPDX-License-Identifier: GPL-2.0-only */
/* Random decisions. They come from a fuzzer's bytes until these are used up, or from rnd(). */
#ifndef CHOICES_H
#define CHOICES_H

#include "abi/types.h"

struct choices {
	const u8 *data;		/* NULL: rnd() */
	size_t len;
};

u64 choose(struct choices *c, u64 n);	/* returns 0..n-1; 0 after the bytes are used up */
bool choices_left(const struct choices *c);

#endif
