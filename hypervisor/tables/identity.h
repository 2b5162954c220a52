/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_IDENTITY_H
#define QV_IDENTITY_H

struct instance;

/*
 * The front end's nested tables, after setup_tables() and before setup_rebase(): run by
 * the driver, so that no CPU is held while they are filled. 0 or -1 (no pages left)
 */
int identity_tables(struct instance *inst);

#endif
