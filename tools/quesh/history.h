/* SPDX-License-Identifier: GPL-2.0-only */
/* The output of a cell as text without escape sequences: for scroll-back, and for a log file */
#ifndef QUESH_HISTORY_H
#define QUESH_HISTORY_H

#include <stdbool.h>

#include "buf.h"
#include "console.h"
#include "escape.h"

#define HISTORY_MAX	(4u << 20)	/* bytes; older text is dropped */

struct history {
	const struct console *console;
	struct stream stream;
	struct escape escape;	/* the escape sequence in which the output is */
	struct buf text;
	int log;		/* file descriptor to which new text is appended, or -1 */
	bool utf8;
};

/* Begins with the oldest output that the console still holds. */
void history_init(struct history *history, const struct console *console, int log, bool utf8);
/* Begins again with the first byte of the cell's next life. */
void history_restart(struct history *history);
/* Takes the output since the last call. Returns false if the log cannot be written. */
bool history_collect(struct history *history);
/* Writes all bytes to a file. Returns false with errno if that fails. */
bool history_write(int fd, const char *bytes, size_t len);
/* Shows the text in `less`, which needs the terminal. Returns false if it cannot be started. */
bool history_view(const struct history *history);
void history_free(struct history *history);

#endif
