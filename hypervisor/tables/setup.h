/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_SETUP_H
#define QV_SETUP_H

struct instance;

/*
 * Builds the instance's own tables. The image and inst->boot are there; inst->pt_pool.va is the
 * block's present mapping. Returns 0 or -1 (no pages left).
 */
int setup_tables(struct instance *inst);
/* Changes all pointers inside @inst to those that the instance will use: its creator's last step */
void setup_rebase(struct instance *inst);

#endif
