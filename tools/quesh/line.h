/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a shell prints in answer to one line: the echo of the line and the next
 * prompt are taken away, and what could act upon a terminal.
 */
#ifndef QUESH_LINE_H
#define QUESH_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

struct answer {
	const char *command;
	const char *prompt;
	bool utf8;
	bool first;		/* no line was complete yet: it may be the echo */
	bool echoed;		/* the echo was there; a shell may show prompt and line again before it */
	size_t cleared;		/* bytes of the sequence that clears a row */
	bool done;		/* the shell awaits the next line */
	struct buf line;	/* the line that is not complete yet */
};

void answer_init(struct answer *answer, const char *command, const char *prompt, bool utf8);
void answer_free(struct answer *answer);

/* Takes bytes of the stream until the answer is done; returns how many it took. */
size_t answer_feed(struct answer *answer, const uint8_t *bytes, size_t len, struct buf *out);

/* What is held back, when no end will come. */
void answer_flush(struct answer *answer, struct buf *out);

/* A command is one line of printable ASCII: all that a cell's keyboard has and every cell's screen shows. */
bool command_is_valid(const char *command);

#endif
