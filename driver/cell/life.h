/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls about cells, with the arguments of linux/qv.h: they are called with qv_lock held. */
#ifndef QV_CELL_LIFE_H
#define QV_CELL_LIFE_H

#include "cells.h"

/* ---- life.c ---- */
int qv_cell_create(struct qv_cell_create *q);
int qv_cell_start(struct qv_reply *r, struct qv_cell *cell);
int qv_cell_shutdown(struct qv_reply *r, struct qv_cell *cell, u32 timeout_ms);
int qv_cell_destroy(struct qv_reply *r, struct qv_cell *cell);

/* ---- agree.c ---- */
int qv_cell_lock(struct qv_reply *r, struct qv_cell *cell);
int qv_cell_unlock(struct qv_reply *r, struct qv_cell *cell, u32 timeout_ms);

/* ---- info.c, sample.c, dump.c ---- */
void qv_cell_info(struct qv_cell_info *info, struct qv_cell *cell);
int qv_cell_sample(struct qv_cell_sample *s, struct qv_cell *cell);
int qv_cell_memory(struct qv_cell_memory *m, struct qv_cell *cell);

#endif
