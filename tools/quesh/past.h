/* SPDX-License-Identifier: GPL-2.0-only */
/* The history of a cell's console across sessions: a file in the user's state directory */
#ifndef QUESH_PAST_H
#define QUESH_PAST_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

#define PAST_MAX	(1u << 20)	/* bytes of the file */

/*
 * Writes the path of the file: $XDG_STATE_HOME/quesh/NAME, or ~/.local/state/quesh/NAME. Returns
 * false if the user has no such directory.
 */
bool past_path(char *path, size_t room, const char *name);

/* Appends the text of earlier sessions to `text`. Without such a file `text` stays as it is. */
void past_load(struct buf *text, const char *name);

/*
 * `text` begins with `past` bytes of earlier sessions, and continues with the output that the
 * console still held. Removes the output that the earlier sessions have already.
 */
void past_join(struct buf *text, size_t past);

/* Keeps the end of the text for the next session. Returns false with errno if that fails. */
bool past_save(const struct buf *text, const char *name);

#endif
