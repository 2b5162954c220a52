/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the escape sequences in a cell's output, byte by byte, so that text is kept without them:
 * ESC [ ... letter (colours, the cursor), ESC ] ... BEL and the like (titles), ESC and a letter.
 * A newline, or the end of an answer, ends a sequence that is not complete.
 */
#ifndef QUESH_ESCAPE_H
#define QUESH_ESCAPE_H

#include <stdbool.h>
#include <stdint.h>

/* zeros: outside of a sequence */
struct escape {
	enum { ESCAPE_OUTSIDE, ESCAPE_BEGUN, ESCAPE_CONTROL, ESCAPE_STRING, ESCAPE_STRING_ESC }
		state;
};

/* Returns whether this byte of the output belongs to a sequence. */
bool escape_takes(struct escape *escape, uint8_t byte);

#endif
