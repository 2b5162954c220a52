/* SPDX-License-Identifier: GPL-2.0-only */
/* The ways to pass items between two processes that chanbench compares. */
#ifndef CHANWAYS_H
#define CHANWAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOTH_SIDES	2

struct way {
	const char *name;
	void (*make)(size_t size);	/* in the first process, before it forks */
	/* In each process; may be NULL. BOTH_SIDES: one process sends as side 0, receives as 1 */
	void (*join)(int side);
	/* Both wait as long as it takes. @side is 0 in the first process, 1 in the other */
	void (*send)(int side, const void *data, size_t size);
	void (*receive)(int side, void *data, size_t size);
	/* The same for @n items, each copied from or to @data; NULL: one item after the other */
	void (*send_n)(int side, const void *data, size_t size, uint64_t n);
	void (*receive_n)(int side, void *data, size_t size, uint64_t n);
	void (*end)(void);
	bool in_turn;			/* the sides send alternately, so no stream is measured */
};

extern const struct way ways[];		/* ends with a row without a name */

/* Ends the program with a message unless @good */
void must(int good, const char *what);

#endif
