// SPDX-License-Identifier: GPL-2.0-only
/* Events, which read() of /dev/qv returns. Each open file has its own position in the ring. */
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include "qv.h"
#include "events.h"

#define EVENTS_KEPT	256

static DEFINE_SPINLOCK(events_lock);
static DECLARE_WAIT_QUEUE_HEAD(events_wait);
static struct qv_event events_ring[EVENTS_KEPT];
static u64 events_happened;			/* number of events since the module was loaded */

/* Returns the level of an event that goes to the kernel log as well, else NULL */
static const char *events_kernel_level(u32 type, u32 state)
{
	if (type == QV_EVENT_ENABLED || type == QV_EVENT_DISABLED)
		return KERN_INFO;
	return type == QV_EVENT_CELL && state == QV_STATE_FAILED ? KERN_WARNING : NULL;
}

void qv_event(u32 type, u32 state, const char *name, const char *fmt, ...)
{
	const char *level = events_kernel_level(type, state), *colon = *name ? ": " : "";
	struct qv_event *e;
	unsigned long flags;
	va_list args;

	spin_lock_irqsave(&events_lock, flags);
	e = &events_ring[events_happened % EVENTS_KEPT];
	memset(e, 0, sizeof(*e));
	e->seq = ++events_happened;
	e->time_ns = ktime_get_real_ns();
	e->type = type;
	e->state = state;
	strscpy(e->name, name, sizeof(e->name));
	va_start(args, fmt);
	vscnprintf(e->text, sizeof(e->text), fmt, args);
	va_end(args);
	spin_unlock_irqrestore(&events_lock, flags);
	/* a cell can lock and unlock management at will */
	qv_log_event(name, type == QV_EVENT_LOCK, "%s%s%s", name, colon, e->text);
	if (level)
		printk("%sqv: %s%s%s\n", level, name, colon, e->text);
	wake_up_interruptible(&events_wait);
}

u64 qv_events_now(void)
{
	return READ_ONCE(events_happened);
}

static bool events_take(u64 *seen, struct qv_event *e)
{
	unsigned long flags;
	bool there;

	spin_lock_irqsave(&events_lock, flags);
	if (events_happened - *seen > EVENTS_KEPT)
		/* the reader sees the lost events as a gap in .seq */
		*seen = events_happened - EVENTS_KEPT;
	there = *seen < events_happened;
	if (there)
		*e = events_ring[(*seen)++ % EVENTS_KEPT];
	spin_unlock_irqrestore(&events_lock, flags);
	return there;
}

ssize_t qv_events_read(u64 *seen, char __user *to, size_t len, bool wait)
{
	size_t done = 0;
	struct qv_event e;

	if (len < sizeof(e))
		return -EINVAL;
	for (;;) {
		while (done + sizeof(e) <= len && events_take(seen, &e)) {
			if (copy_to_user(to + done, &e, sizeof(e))) {
				--*seen;
				return done ? (ssize_t)done : -EFAULT;
			}
			done += sizeof(e);
		}
		if (done)
			return done;
		if (!wait)
			return -EAGAIN;
		if (wait_event_interruptible(events_wait, READ_ONCE(events_happened) > *seen))
			return -ERESTARTSYS;
	}
}

__poll_t qv_events_poll(u64 seen, struct file *file, struct poll_table_struct *table)
{
	poll_wait(file, &events_wait, table);
	return READ_ONCE(events_happened) > seen ? EPOLLIN | EPOLLRDNORM : 0;
}
