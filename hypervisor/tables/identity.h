/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_IDENTITY_H
#define QV_IDENTITY_H

struct instance;

/*
 * Makes the front end's nested tables, after setup_tables() and before setup_rebase(). The driver
 * runs it, so that no CPU is held while the tables are filled. Returns 0 or -1 (no pages left)
 */
int identity_tables(struct instance *inst);

#endif
