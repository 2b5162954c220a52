/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * libqv: channels of QV for Linux programs. Link with `pkg-config --libs libqv`.
 *
 * Each function returns 0 (qv_claim_n() and qv_peek_n(): 1 or more) or a result below 0: enum
 * qv_chan_result of qv/end.h, or enum qv_lib_result. qv_strerror() has a sentence for each. After a
 * result below 0, qv_detail() names the file and the reason. Time-outs are milliseconds; 0: do not
 * wait; below 0: no time-out.
 * A channel belongs to one thread at a time. A child of fork() must not use it.
 */
#ifndef QV_LIBQV_H
#define QV_LIBQV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <qv/end.h>

#ifdef __cplusplus
extern "C" {
#endif

struct qv_channel;

enum qv_lib_result {
	QV_LIB_TIMEOUT		= -100,	/* the time-out passed */
	QV_LIB_INTERRUPTED	= -101,	/* a signal handler ran while the call waited */
	QV_LIB_SYSTEM		= -102,	/* Linux refused; qv_detail() names the call */
	QV_LIB_NOT_FOUND	= -103,	/* no channel has this name or key */
	QV_LIB_BUSY		= -104,	/* another program uses this end */
	QV_LIB_PERMISSION	= -105,	/* this user may not open the channel */
	QV_LIB_MISMATCH		= -106,	/* the channel has another type, item or schema */
};

/* Opens the channel of this name as the end of Linux: /dev/qv-channel/NAME. */
int qv_open(struct qv_channel **channel, const char *name);
/* Opens a channel that was made at run time with this key. */
int qv_open_key(struct qv_channel **channel, uint64_t key);
/* Closes a channel. NULL is allowed. An uncommitted item is never seen by the peer. */
void qv_close(struct qv_channel *channel);

/* A checked copy of the life page. It stays valid until the channel is closed. */
const struct qv_chan_page *qv_page(const struct qv_channel *channel);
void qv_status(const struct qv_channel *channel, struct qv_end_status *status);
/*
 * Compares the channel with the type, item size and schema that a program was written for. 0 and
 * NULL fit everything. On QV_LIB_MISMATCH, qv_detail() names both sides.
 */
int qv_expect(const struct qv_channel *channel, uint32_t type, uint64_t item, const char *schema);

/*
 * Writes an item, and rings the peer's bell if the channel has one. Waits for room with
 * `full: block` and in a mailbox; otherwise it never waits. See qv_end_write().
 */
int qv_write(struct qv_channel *channel, const void *data, size_t size, int timeout_ms);
/* Waits for an item and copies it. `size` must be that of an item. `item` may be NULL. */
int qv_read(struct qv_channel *channel, void *data, size_t size, struct qv_item *item,
	    int timeout_ms);
/* The last value of a four-slot again, even if it is not new. Does not wait. */
int qv_read_again(struct qv_channel *channel, void *data, size_t size, struct qv_item *item);

/* Typed calls: the size of *value must be that of an item. */
#define qv_put(channel, value, timeout_ms) \
	qv_write((channel), (value), sizeof(*(value)), (timeout_ms))
#define qv_get(channel, value, timeout_ms) \
	qv_read((channel), (value), sizeof(*(value)), NULL, (timeout_ms))

/* Zero copy: see qv_end_claim() and qv_end_peek() in qv/end.h. */
int qv_claim(struct qv_channel *channel, void **data, int timeout_ms);
int qv_commit(struct qv_channel *channel, size_t size);
int qv_abort(struct qv_channel *channel);
int qv_peek(struct qv_channel *channel, const void **data, struct qv_item *item, int timeout_ms);
int qv_release(struct qv_channel *channel);
/*
 * Several items of a ring at once: see qv_end_claim_n() and qv_end_peek_n(). They wait for one
 * item, or room for one, and return how many there are. A commit or a release rings once.
 */
int qv_claim_n(struct qv_channel *channel, uint32_t n, int timeout_ms);
void *qv_claimed(const struct qv_channel *channel, uint32_t i);
int qv_commit_n(struct qv_channel *channel, uint32_t n);
int qv_peek_n(struct qv_channel *channel, uint32_t n, int timeout_ms);
const void *qv_peeked(const struct qv_channel *channel, uint32_t i, struct qv_item *item);
int qv_release_n(struct qv_channel *channel, uint32_t n);
/* The bytes of a channel of type memory; see qv_end_memory(). */
int qv_memory(struct qv_channel *channel, void **data, uint64_t *size, bool *writable);

/*
 * For poll(), epoll and event loops. The descriptor is readable after a bell. Call qv_arm() before
 * you wait, then read until there is no item, then wait: no bell is lost in between.
 */
int qv_fd(const struct qv_channel *channel);
int qv_arm(struct qv_channel *channel);
/* Rings the bell of the other ends, for channels of type memory. */
int qv_ring(struct qv_channel *channel);

/* A sentence for a result. Never NULL. */
const char *qv_strerror(int result);
/* More about the last result below 0 in this thread; empty if none is known. */
const char *qv_detail(void);

/*
 * Channels in files, for tests of programs without QV: the file holds the window, and PATH.bellN is
 * a FIFO for each end. These calls do what YAML files, the manager and other cells do under QV.
 */
/*
 * Replaces a channel of this path, also one with another layout that a killed program left, or an
 * empty file. Any other file stays: QV_LIB_MISMATCH.
 */
int qv_file_create(const char *path, const struct qv_chan_page *plan);
int qv_file_open(struct qv_channel **channel, const char *path, uint32_t end);
/* Starts an end under a new generation. No program may have this end open. */
int qv_file_start(const char *path, uint32_t end);
int qv_file_state(const char *path, uint32_t end, enum qv_chan_state state);
/*
 * Ends the channel: calls of programs that have it open return QV_LIB_NOT_FOUND from then on. A
 * file that is no channel stays: QV_LIB_MISMATCH.
 */
int qv_file_remove(const char *path);

#ifdef __cplusplus
}
#endif
#endif
