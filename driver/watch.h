/* SPDX-License-Identifier: GPL-2.0-only */
/* Looks at the instances of the monitor: functions are called with qv_lock held. */
#ifndef QV_WATCH_H
#define QV_WATCH_H

#include <linux/qv.h>

/* ---- watch.c: looks at running cells and at the logs ---- */
void qv_watch_start(void);
void qv_watch_stop(void);
void qv_watch_now(void);		/* records what happened in the cells until now */

/* ---- stats.c ---- */
int qv_stats_read(struct qv_stats *s);
/* longest stay of a CPU in the monitor since qv_held_begin() */
u64 qv_held_ns(void);
/* begins a new interval; the statistics keep the maxima measured before */
void qv_held_begin(void);

#endif
