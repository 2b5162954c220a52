/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_EVENTS_H
#define QV_EVENTS_H

#include <linux/poll.h>

u64 qv_events_now(void);
ssize_t qv_events_read(u64 *seen, char __user *to, size_t len, bool wait);
__poll_t qv_events_poll(u64 seen, struct file *file, struct poll_table_struct *table);

#endif
