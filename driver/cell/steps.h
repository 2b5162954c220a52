/* SPDX-License-Identifier: GPL-2.0-only */
/* The steps of a cell's life: functions are called with qv_lock held. */
#ifndef QV_CELL_STEPS_H
#define QV_CELL_STEPS_H

#include "cells.h"

/* ---- check.c ---- */
int qv_cell_check(struct qv_cell_create *q);
/* The same for a cell that has ended and is to start again, which creates its instance again */
int qv_cell_check_renew(struct qv_reply *r, const struct qv_cell *cell);

/* ---- info.c ---- */
void qv_info_write(struct qv_cell *cell);	/* writes the info page into the cell's memory */

/* ---- handover.c ---- */
int qv_handover_create(struct qv_reply *r, struct qv_cell *cell);
int qv_handover_start(struct qv_reply *r, struct qv_cell *cell);
/* afterwards no CPU of the cell runs the inmate */
int qv_handover_stop(struct qv_reply *r, struct qv_cell *cell);
/* takes back memory and CPUs; the cell must not run */
int qv_handover_reclaim(struct qv_reply *r, struct qv_cell *cell);

/* ---- failure.c ---- */
void qv_failure_record(struct qv_cell *cell, const struct qv_mon_failure *f, const char *more);
/*
 * Takes what the monitor has recorded of a cell that has ended without a known failure: registers
 * (reason 0), or a failure
 */
void qv_failure_fetch(struct qv_cell *cell);
/*
 * The cell failed @times times, at last by @f, and runs again by itself, from the TSC @entered on,
 * which may be wrong
 */
void qv_failure_again(struct qv_cell *cell, const struct qv_mon_failure *f, u32 times,
		      u64 entered, const char *more);
/* makes the failure, if there is one, the last failure */
void qv_failure_keep(struct qv_cell *cell);
/* CPU @cpu of the cell does not answer the monitor */
void qv_failure_lost(struct qv_cell *cell, u32 cpu);
int qv_failure_refuse_lost(struct qv_reply *r, const struct qv_cell *cell);

/* ---- lock.c ---- */
bool qv_cell_locked(struct qv_cell *cell);	/* the cell is running and has locked management */
struct qv_cell *qv_lock_holder(void);		/* or NULL */
int qv_lock_check(struct qv_reply *r);		/* refuses if a cell has locked management */

/* ---- agree.c ---- */
/*
 * Drops qv_lock until @what is true of a running cell. Returns false at the timeout, or after a
 * signal
 */
bool qv_cell_await(const char *name, u32 timeout_ms, bool (*what)(struct qv_cell *cell));

#endif
