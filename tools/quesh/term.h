/* SPDX-License-Identifier: GPL-2.0-only */
/* The user's terminal. It is raw while quesh draws on it, and is always restored. */
#ifndef QUESH_TERM_H
#define QUESH_TERM_H

#include <stdbool.h>
#include <stddef.h>

/* Sets up the terminal and handlers that restore it. Returns 0, or -1 with errno. */
int term_enter(void);
void term_leave(void);
/* Sets the terminal up again after term_leave(). Returns 0, or -1 with errno. */
int term_again(void);

void term_size(int *rows, int *cols);
bool term_write(const void *bytes, size_t len);

/* Returns whether the window was resized (or must be redrawn) since the last call. */
bool term_was_resized(void);

/* Returns the signal that requests to end, or 0. */
int term_end_signal(void);

/* Handles SIGTSTP: restores the terminal, stops, and later sets the terminal up again. */
void term_stop_if_asked(void);

#endif
