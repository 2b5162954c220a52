/* SPDX-License-Identifier: GPL-2.0-only */
/* A machine from which cells are requested, and a slow, simple judge of requests. */
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
	/* for each 2 MiB page: it is RAM, and no console page of another cell is in it */
	bool plain[FRONT_PAGES];
};

/*
 * 5 GiB with the usual gap below 4 GiB. Taken are: the monitor's own block, block and memory of a
 * running cell, the page of ones, the console page of another cell.
 */
void machine_open(struct machine *m, u32 max_leaf);
void machine_close(struct machine *m);

/* Makes a request without any fault. */
void request_good(struct qv_mon_create *q);
/* Changes parts of the request at random. */
void request_spoil(struct qv_mon_create *q, struct choices *c);

/* Returns NULL for a sound request, otherwise the reason why it is unsound. */
const char *request_unsound(const struct machine *m, const struct qv_mon_create *q);

/* Checks that request_check() agrees with request_unsound() and has changed nothing. */
void request_model_check(struct machine *m);

#endif
