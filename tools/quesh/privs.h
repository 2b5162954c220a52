/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUESH_PRIVS_H
#define QUESH_PRIVS_H

/*
 * Gives up root and all capabilities permanently, because quesh then reads data that a cell wrote.
 * Returns 0, or -1 with errno.
 */
int privs_drop(void);

#endif
