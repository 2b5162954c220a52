/* SPDX-License-Identifier: GPL-2.0-only */
/* A machine to ask cells of, and a slow, plain judge of what is asked. */
#ifndef REQUEST_MODEL_H
#define REQUEST_MODEL_H

#include "manage/request.h"
#include "choices.h"
#include "front_model.h"

#define MACHINE_CPUS	8u
#define MACHINE_CALLER	1u

struct machine {
	struct front_model front;
	struct instance *inst;
	bool plain[FRONT_PAGES];	/* all RAM, and no page of it another cell's window */
};

/*
 * 5 GiB with the usual gap below 4 GiB; the monitor's own block, a running
 * cell's block and memory, memory answered with ones, another cell's window.
 */
void machine_open(struct machine *m, u32 max_leaf);
void machine_close(struct machine *m);

/* A request that is fine in every respect */
void request_good(struct qv_mon_create *q);
/* ... and some of it changed */
void request_spoil(struct qv_mon_create *q, struct choices *c);

/* NULL: a sound request. Else what is wrong with it. */
const char *request_unsound(const struct machine *m, const struct qv_mon_create *q);

/* request_check() agrees with the above, and has changed nothing */
void request_model_check(struct machine *m);

#endif
