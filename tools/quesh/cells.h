/* SPDX-License-Identifier: GPL-2.0-only */
/* All cells at once: their list, and a window of tmux for each */
#ifndef QUESH_CELLS_H
#define QUESH_CELLS_H

/* Both return the exit status. */
int cells_list(const char *folder);
int cells_tmux(const char *folder);

#endif
