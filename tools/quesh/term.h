/* SPDX-License-Identifier: GPL-2.0-only */
/* The person's terminal: raw while we draw on it, always given back as it was. */
#ifndef QUESH_TERM_H
#define QUESH_TERM_H

#include <stdbool.h>
#include <stddef.h>

/* Takes the terminal, installs handlers that give it back. 0, or -1 with errno. */
int term_enter(void);
void term_leave(void);

void term_size(int *rows, int *cols);
bool term_write(const void *bytes, size_t len);

/* Since the last call: the window has another size (or must be drawn anew). */
bool term_was_resized(void);

/* The signal that asks us to end, or 0. */
int term_end_signal(void);

/* After SIGTSTP: gives the terminal back, stops, and takes it again. */
void term_stop_if_asked(void);

#endif
