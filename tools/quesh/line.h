/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters the output of a shell for one line: removes the echo of the line, the next prompt, and
 * all bytes and escape sequences that could control a terminal.
 */
#ifndef QUESH_LINE_H
#define QUESH_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "escape.h"

struct answer {
	const char *command;
	const char *prompt;
	bool utf8;
	bool first;		/* no line has been complete yet, so this line may be the echo */
	/* the echo has been removed; until then a shell may repeat prompt and line */
	bool echoed;
	size_t cleared;		/* number of bytes seen of the sequence that clears a row */
	/* the row was cleared before the echo: the next READY says that the shell still waits */
	bool hidden;
	struct escape escape;	/* the escape sequence in which the output is */
	bool done;		/* the shell is ready for the next line */
	struct buf line;	/* the line that is still incomplete */
};

void answer_init(struct answer *answer, const char *command, const char *prompt, bool utf8);
void answer_free(struct answer *answer);

/* Takes bytes of the stream until the answer is complete. Returns the number of bytes taken. */
size_t answer_feed(struct answer *answer, const uint8_t *bytes, size_t len, struct buf *out);

/* Returns the part that is held back, for a line that will not be completed. */
void answer_flush(struct answer *answer, struct buf *out);

/* A command is one line of printable ASCII, which every cell's keyboard and screen support. */
bool command_is_valid(const char *command);

#endif
