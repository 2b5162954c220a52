/* SPDX-License-Identifier: GPL-2.0-only */
/* Pipes between programs: one page each, by number. Interrupts are off in every call. */
#ifndef QUEST_PIPE_H
#define QUEST_PIPE_H

#include <stdbool.h>
#include <stdint.h>
#include "../mm/space.h"

#define PIPE_MAX	32		/* pipes of all programs */
#define PIPE_BYTES	4096		/* that a pipe holds: a page */

enum pipe_end { PIPE_READ, PIPE_WRITE };

/*
 * Creates a pipe with one open end of each kind. Returns its number, or minus an error (errors.h):
 * EMFILE, ENOMEM.
 */
int pipe_create(void);

/* Count one more, or one less, open end. The pipe is freed with its last end. */
void pipe_open(int pipe, enum pipe_end end);
void pipe_close(int pipe, enum pipe_end end);

/*
 * Waits for a byte, then takes as many as there are, up to `n`. Returns how many; 0 if the pipe is
 * empty and has no open end for writing; or minus an error, then it has taken none.
 */
long pipe_read(int pipe, const struct space *s, uint64_t to, uint64_t n);

/*
 * Writes all of `n` bytes, waiting for room; up to PIPE_BUF of them in one piece. Returns how many,
 * or minus an error if it has written none. EPIPE: there is no open end for reading.
 */
long pipe_write(int pipe, const struct space *s, uint64_t from, uint64_t n);

#endif
