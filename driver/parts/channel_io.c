// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes of Linux's end of a channel, by lib/channel. All files on the channel use the
 * same end, one after the other.
 */
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include "qv.h"
#include "parts/channels.h"

#define IO_TRIES	4	/* drop-oldest: items that may be overwritten during a read */
#define IO_FAULT	1	/* no enum qv_chan_result: the program's memory is not there */

/* Why a call of lib/channel did nothing; 0: end of file */
static int io_error(int result, bool writes)
{
	switch (result) {
	case QV_CHAN_NOTHING:
	case QV_CHAN_LAPPED:
	case QV_CHAN_ABSENT:	return -EAGAIN;
	case QV_CHAN_STOPPED:	return writes ? -EPIPE : 0;
	case QV_CHAN_FAILED:
	case QV_CHAN_RESTARTED:	return -EPIPE;
	case QV_CHAN_SIZE:	return -EINVAL;
	case QV_CHAN_USAGE:	return -EOPNOTSUPP;
	case IO_FAULT:		return -EFAULT;
	default:		return -EBADMSG;
	}
}

/*
 * Returns as io_error(). Keeps the reason for the file `last_error`, unless the call only has to
 * wait, or was wrong itself
 */
static int io_failed(struct qv_channel_dev *c, int result, bool writes)
{
	int error = io_error(result, writes);

	if (!error || error == -EAGAIN || error == -EINVAL || error == -EOPNOTSUPP ||
	    error == -EFAULT)
		return error;
	c->error = result == QV_CHAN_STOPPED ? "stopped" :
		   result == QV_CHAN_FAILED ? "failed" :
		   result == QV_CHAN_RESTARTED ? "restarted" : "corrupt";
	c->error_ns = ktime_get_boottime_ns();
	return error;
}

const char *qv_channel_error(struct qv_channel_dev *c, u64 *ns)
{
	const char *error;

	mutex_lock(&c->lock);
	error = c->error;
	*ns = c->error_ns;
	mutex_unlock(&c->lock);
	return error;
}

static int io_full(const struct qv_channel_dev *c)
{
	bool waits = c->page.type != QV_CHAN_RING || c->page.full == QV_CHAN_FULL_BLOCK;

	return waits ? -EAGAIN : -ENOBUFS;
}

/* Makes .end valid. All functions io_*() need .lock of the channel */
static int io_attach(struct qv_channel_dev *c)
{
	int result;

	if (c->gone)
		return -ENODEV;
	if (c->claimed)
		return -EBUSY;
	if (!c->made)
		return -EAGAIN;
	if (c->attached)
		return 0;
	result = qv_end_attach(&c->end, c->window, c->page.length, c->self);
	c->attached = !result;
	return result ? io_failed(c, result, true) : 0;
}

/*
 * With QV_CHAN_RECONNECT, a peer that has restarted is the new peer from now on. It has no answer
 * to a question of Linux to the old one, so the next read() of a mailbox fails
 */
static bool io_once_more(struct qv_channel_dev *c, int result)
{
	if (result != QV_CHAN_RESTARTED || c->end.ended)
		return false;
	if (c->page.type == QV_CHAN_MAILBOX && !c->self && c->end.count > c->end.last)
		c->unanswered = true;
	return true;
}

/* Each file has its own place in the values of a four-slot. lib/channel has it in .last */
static void io_resume(struct qv_channel_file *f)
{
	struct qv_channel_dev *c = f->c;

	if (c->page.type == QV_CHAN_FOUR_SLOT && c->self)
		c->end.last = f->seen[0] == c->end.peer_generation ? f->seen[1] : 0;
}

/* True if the file read this value before the end was attached again: io_resume() knows it now */
static bool io_stale(const struct qv_channel_file *f, const struct qv_item *item)
{
	const struct qv_channel_dev *c = f->c;

	return c->page.type == QV_CHAN_FOUR_SLOT && f->seen[0] == c->end.peer_generation &&
	       item->number <= f->seen[1];
}

/*
 * Copies an item to the program without a copy in Linux, which a program could have Linux keep for
 * any time. If a copy needs a page fault, the item stays
 */
static int io_take(struct qv_channel_file *f, struct qv_channel_move *m, struct qv_item *item)
{
	struct qv_end *end = &f->c->end;
	const void *data;
	int result;

	io_resume(f);
	if (m->again)
		end->last = 0;		/* then the last value is a new one */
	result = qv_end_peek(end, &data, item);
	if (result)
		return result;
	m->bytes = item->bytes;
	if (copy_to_user_nofault(m->at, data, m->bytes)) {
		end->peeked = false;
		return IO_FAULT;
	}
	return qv_end_release(end);
}

static ssize_t io_read(struct qv_channel_file *f, struct qv_channel_move *m)
{
	struct qv_channel_dev *c = f->c;
	struct qv_item item = { 0 };
	int result = io_attach(c), tries = 0;

	if (result)
		return result == -ENODEV ? 0 : result;
	m->again &= c->page.type == QV_CHAN_FOUR_SLOT && f->seen[1];
	do
		result = io_take(f, m, &item);
	while (io_once_more(c, result) || (result == QV_CHAN_LAPPED && ++tries < IO_TRIES) ||
	       (!result && !m->again && io_stale(f, &item)));
	if (result && c->unanswered)
		result = QV_CHAN_RESTARTED;
	c->unanswered = false;
	if (result)
		return io_failed(c, result, false);
	f->seen[0] = c->end.peer_generation;
	f->seen[1] = item.number;
	return item.bytes ?: -ENODATA;	/* a mailbox; 0 would be the end of the file */
}

ssize_t qv_channel_read(struct qv_channel_file *f, struct qv_channel_move *m)
{
	ssize_t n;

	mutex_lock(&f->c->lock);
	n = io_read(f, m);
	/* the writer of a ring may wait for this slot */
	m->rings = n > 0 && f->c->page.type == QV_CHAN_RING && qv_end_rings(&f->c->end);
	mutex_unlock(&f->c->lock);
	return n;
}

/* As io_take(), for an item from the program */
static int io_put(struct qv_channel_dev *c, const struct qv_channel_move *m)
{
	bool mailbox = c->page.type == QV_CHAN_MAILBOX;
	void *room;
	int result;

	if (c->self && !mailbox)
		return QV_CHAN_USAGE;
	if (mailbox ? m->bytes > c->page.item : m->bytes != c->page.item)
		return QV_CHAN_SIZE;
	result = qv_end_claim(&c->end, &room);
	if (result == QV_CHAN_FULL && c->page.full == QV_CHAN_DROP_NEWEST)
		return QV_CHAN_DONE;
	if (result)
		return result;
	if (copy_from_user_nofault(room, m->at, m->bytes)) {
		qv_end_abort(&c->end);
		return IO_FAULT;
	}
	memset(room + m->bytes, 0, -m->bytes % sizeof(u64));
	return qv_end_commit(&c->end, m->bytes);
}

static ssize_t io_write(struct qv_channel_file *f, const struct qv_channel_move *m)
{
	struct qv_channel_dev *c = f->c;
	int result = io_attach(c);

	if (result)
		return result;
	do
		result = io_put(c, m);
	while (io_once_more(c, result));
	if (result == QV_CHAN_FULL)
		return io_full(c);
	if (result)
		return io_failed(c, result, true);
	c->unanswered = false;
	return m->bytes;
}

ssize_t qv_channel_write(struct qv_channel_file *f, struct qv_channel_move *m)
{
	ssize_t n;

	mutex_lock(&f->c->lock);
	n = io_write(f, m);
	m->rings = n >= 0 && qv_end_rings(&f->c->end);
	mutex_unlock(&f->c->lock);
	return n;
}

void qv_channel_unclaimed(struct qv_channel_dev *c)
{
	struct qv_chan_section *own = c->window + c->page.end[c->self].offset;

	if (c->made && !c->gone && c->page.type != QV_CHAN_MEMORY)
		WRITE_ONCE(own->arms, 0);
}

void qv_channel_arm(struct qv_channel_dev *c)
{
	mutex_lock(&c->lock);
	if (!io_attach(c))
		qv_end_arm(&c->end, true);
	mutex_unlock(&c->lock);
}

/* Returns true if read() would return an item, or another result than to wait */
static bool io_readable(struct qv_channel_file *f)
{
	struct qv_channel_dev *c = f->c;
	struct qv_item item;
	const void *data;
	int result;

	io_resume(f);
	result = qv_end_peek(&c->end, &data, &item);
	c->end.peeked = false;			/* the item stays */
	if (io_once_more(c, result))
		return c->unanswered;		/* the next look finds the new peer */
	if (!result)
		return !io_stale(f, &item);
	return c->unanswered ||
	       (result != QV_CHAN_USAGE && io_error(result, false) != -EAGAIN);
}

/* Returns true if there is room, or another result of write() than to wait */
static bool io_writable(struct qv_channel_dev *c)
{
	void *room;
	int result;

	if (c->page.type == QV_CHAN_RING)
		return !c->self && !qv_end_full(&c->end);
	result = qv_end_claim(&c->end, &room);
	if (!result)
		qv_end_abort(&c->end);
	if (io_once_more(c, result) || result == QV_CHAN_USAGE || result == QV_CHAN_FULL)
		return false;
	return !result || io_error(result, true) != -EAGAIN;
}

static __poll_t io_look(struct qv_channel_file *f)
{
	return (io_readable(f) ? EPOLLIN | EPOLLRDNORM : 0) |
	       (io_writable(f->c) ? EPOLLOUT | EPOLLWRNORM : 0);
}

static __poll_t io_ready(struct qv_channel_file *f)
{
	int result = io_attach(f->c);
	__poll_t ready;

	if (result == -ENODEV)
		return EPOLLHUP;
	if (result)
		return result == -EAGAIN || result == -EBUSY ? 0 : EPOLLERR;
	ready = io_look(f);
	if (ready)
		return ready;
	qv_end_arm(&f->c->end, true);
	return io_look(f);
}

__poll_t qv_channel_ready(struct qv_channel_file *f)
{
	struct qv_channel_dev *c = f->c;
	__poll_t ready;

	/* the program itself looks for items, and waits for bells only */
	if (READ_ONCE(c->claimed) && !READ_ONCE(c->gone))
		return atomic_read(&c->bells) == READ_ONCE(f->armed) ? 0 : EPOLLIN | EPOLLRDNORM;
	mutex_lock(&c->lock);
	ready = io_ready(f);
	mutex_unlock(&c->lock);
	return ready;
}

/* The end need not be attached for that: a program may have claimed it */
static void io_status(struct qv_channel_dev *c, struct qv_end_status *status)
{
	if (!c->attached) {
		memset(&c->end, 0, sizeof(c->end));
		c->end.page = c->page;
		c->end.window = c->window;
		c->end.self = c->self;
		c->end.peer = !c->self;
	}
	qv_end_status(&c->end, status);
}

bool qv_channel_attaches(struct qv_channel_dev *c)
{
	struct qv_end_status status = { 0 };
	bool news = false;

	if (c->page.type != QV_CHAN_MAILBOX || c->self)
		return false;
	mutex_lock(&c->lock);
	if (c->made && !c->gone)
		io_status(c, &status);
	if (status.attached && status.peer_generation != c->peer_seen) {
		c->peer_seen = status.peer_generation;
		news = true;
	}
	mutex_unlock(&c->lock);
	return news;
}

bool qv_channel_status(struct qv_channel_dev *c, struct qv_end_status *status)
{
	bool there;

	mutex_lock(&c->lock);
	there = c->made && !c->gone;
	if (there)
		io_status(c, status);
	mutex_unlock(&c->lock);
	return there;
}
