/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of a cell: a file for each kind of resource, all with the same verbs. The steps of a
 * cell's life are loops over the table in parts/parts.c. A part that is added there needs no change
 * in cell/.
 */
#ifndef QV_DRIVER_PARTS_H
#define QV_DRIVER_PARTS_H

#include <linux/types.h>

struct qv_cell;
struct qv_cell_create;
struct qv_cell_info;
struct qv_info;
struct qv_mon_create;
struct qv_reply;

/*
 * The verbs, each for one cell, in the order of the cell's life. A verb may be NULL. A verb that
 * returns an int may refuse: it returns an errno then, with the reason in @r. The others cannot
 * fail.
 *
 * A part keeps a list of the resources that outlive a cell or that two cells share. For such a
 * resource, take() adds an owner, give() removes one, and end() notifies the other owner. A part
 * with a resource of the machine has unload() as well.
 */
struct qv_part {
	/* Decides whether the cell can have what @q asks for. Changes nothing */
	int (*check)(struct qv_reply *r, const struct qv_cell_create *q);
	/* Takes the resource from Linux, ready for the first life. After an error give() follows */
	int (*take)(struct qv_reply *r, struct qv_cell *cell);
	/* Describe it to the inmate (info page), to the monitor, and to programs of Linux */
	void (*info)(const struct qv_cell *cell, struct qv_info *info);
	void (*describe)(const struct qv_cell *cell, struct qv_mon_create *m);
	void (*show)(const struct qv_cell *cell, struct qv_cell_info *info);
	/*
	 * begin(): the inmate runs from now on. end(): it no longer runs, since it was stopped or
	 * has failed. end() may be called twice. After a start that failed, only end() is called
	 */
	void (*begin)(struct qv_cell *cell);
	void (*end)(struct qv_cell *cell);
	/* Makes the resource ready for the next life. After an error the cell stays stopped */
	int (*reset)(struct qv_reply *r, struct qv_cell *cell);
	/*
	 * Gives back to Linux all that was taken, which may be nothing. The cell no longer exists
	 * in the monitor.
	 */
	void (*give)(struct qv_cell *cell);
	/* The module is being unloaded, and there are no cells */
	void (*unload)(void);
};

/* Each calls its verb for every part, in the order of the table; the first refusal ends the loop */
int qv_parts_check(struct qv_reply *r, const struct qv_cell_create *q);
int qv_parts_take(struct qv_reply *r, struct qv_cell *cell);
void qv_parts_info(const struct qv_cell *cell, struct qv_info *info);
void qv_parts_describe(const struct qv_cell *cell, struct qv_mon_create *m);
void qv_parts_show(const struct qv_cell *cell, struct qv_cell_info *info);
void qv_parts_begin(struct qv_cell *cell);
void qv_parts_end(struct qv_cell *cell);
int qv_parts_reset(struct qv_reply *r, struct qv_cell *cell);
void qv_parts_give(struct qv_cell *cell);
void qv_parts_unload(void);

#endif
