/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_SETUP_H
#define QV_SETUP_H

struct instance;

/* The instance's own tables; image and inst->boot are there, inst->pool.va is where the block is mapped
 * now. 0 or -1 (no pages left) */
int setup_tables(struct instance *inst);
/* All pointers inside @inst as the instance itself will see them: the last step of its creator */
void setup_rebase(struct instance *inst);

#endif
