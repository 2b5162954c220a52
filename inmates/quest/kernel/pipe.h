/* SPDX-License-Identifier: GPL-2.0-only */
/* Pipes between programs: one page each, by number. Interrupts are off in every call. */
#ifndef QUEST_PIPE_H
#define QUEST_PIPE_H

#include <stdbool.h>
#include <stdint.h>
#include "../mm/space.h"

#define PIPE_MAX	32		/* largest number of pipes of all programs */
#define PIPE_BYTES	4096		/* number of bytes that a pipe holds: a page */

enum pipe_end { PIPE_READ, PIPE_WRITE };

/*
 * Creates a pipe with one open end of each kind. Returns its number, or minus an error (errors.h):
 * EMFILE, ENOMEM.
 */
int pipe_create(void);

/* Increment or decrement the number of open ends. pipe_close() frees the pipe with its last end. */
void pipe_open(int pipe, enum pipe_end end);
void pipe_close(int pipe, enum pipe_end end);

/*
 * Waits until the pipe holds a byte, then takes all bytes in it, up to `n`. Returns their number.
 * Returns 0 if the pipe is empty and has no open end for writing. Returns minus an error if no byte
 * was taken.
 */
long pipe_read(int pipe, const struct space *s, uint64_t to, uint64_t n);

/*
 * Writes `n` bytes, and waits for room. Up to PIPE_BUF bytes are written in one piece. Returns the
 * number of bytes written, or minus an error if that is 0. If no end is open for reading, returns
 * minus EPIPE, even after a part was written.
 */
long pipe_write(int pipe, const struct space *s, uint64_t from, uint64_t n);

/* Whether calls of this end wait. Those that may not return EAGAIN instead. */
void pipe_set_blocking(int pipe, enum pipe_end end, bool blocking);
bool pipe_blocking(int pipe, enum pipe_end end);

/* Returns the bits of poll() that are so for this end. */
int pipe_ready(int pipe, enum pipe_end end);

#endif
