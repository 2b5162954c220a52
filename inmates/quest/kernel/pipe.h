/* SPDX-License-Identifier: GPL-2.0-only */
/* Pipes between programs: a page each, named by a number. Interrupts are off in every call. */
#ifndef QUEST_PIPE_H
#define QUEST_PIPE_H

#include <stdbool.h>
#include <stdint.h>
#include "../mm/space.h"

#define PIPE_MAX	32		/* of all programs */
#define PIPE_BYTES	4096		/* that one holds: a page */

enum pipe_end { PIPE_READ, PIPE_WRITE };

/* A new pipe with one open end of each kind. Its number, or minus an error (errors.h): EMFILE, ENOMEM. */
int pipe_create(void);

/* One more open end; one less: with the last end of both kinds the pipe goes. */
void pipe_open(int pipe, enum pipe_end end);
void pipe_close(int pipe, enum pipe_end end);

/*
 * Take at least a byte, waiting for one; 0: the pipe is empty and no end for writing is open. Or minus an error, then
 * nothing has been taken.
 */
long pipe_read(int pipe, const struct space *s, uint64_t to, uint64_t n);

/*
 * Put all of `n` bytes, waiting for room: up to PIPE_BUF of them in one piece. Returns how many, or minus an error when
 * none was put: EPIPE: no end for reading is open.
 */
long pipe_write(int pipe, const struct space *s, uint64_t from, uint64_t n);

#endif
