/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of an instance (setup.c), and the nested tables of the front end (identity.c). */
#ifndef QV_SETUP_H
#define QV_SETUP_H

struct instance;

/*
 * Builds the instance's own tables, and nested tables that map nothing. The image and inst->boot
 * are there; inst->pt_pool.va is the block's present mapping. Returns 0 or -1 (no pages left).
 */
int setup_tables(struct instance *inst);
/* Changes all pointers inside @inst to those that the instance will use: its creator's last step */
void setup_rebase(struct instance *inst);
/*
 * Fills the front end's nested tables, after setup_tables() and before setup_rebase(). The driver
 * runs it, so that no CPU is held while the tables are filled. Returns 0 or -1 (no pages left)
 */
int identity_tables(struct instance *inst);

#endif
