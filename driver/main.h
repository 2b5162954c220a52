/* SPDX-License-Identifier: GPL-2.0-only */
/* Character device and notifiers, which main.c registers. */
#ifndef QV_MAIN_H
#define QV_MAIN_H

#include <linux/fs.h>
#include <linux/qv.h>

/* ---- calls.c ---- */
extern const struct file_operations qv_fops;

/* ---- notifiers.c ---- */
int qv_notifiers_register(void);	/* returns an errno */
void qv_notifiers_unregister(void);
/* destroys all cells and disables QV; false: @r says why not. Call with qv_lock held */
bool qv_end_all(struct qv_reply *r);

#endif
