/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_SETUP_H
#define QV_SETUP_H

struct instance;

/*
 * Builds the instance's own tables. The image and inst->boot are there; inst->pool.va is the
 * block's present mapping. Returns 0 or -1 (no pages left).
 */
int setup_tables(struct instance *inst);
/* All pointers inside @inst as the instance itself will see them: the last step of its creator */
void setup_rebase(struct instance *inst);

#endif
