/* SPDX-License-Identifier: GPL-2.0-only */
/* A console exists until the last file on it is closed. Callable without qv_lock. */
#ifndef QV_PARTS_CONSOLE_H
#define QV_PARTS_CONSOLE_H

#include <linux/kref.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/qv.h>

struct qv_console {
	struct kref kref;
	struct miscdevice misc;
	char misc_name[QV_NAME_LEN + 16], node[QV_NAME_LEN + 24];
	struct page *pages[8];
	struct qv_comm *comm;
	struct mutex lock;		/* protects all members below */
	wait_queue_head_t wait;
	/* copy of comm->keys_head, which the inmate may overwrite */
	u32 head;
	/* the instance whose doorbell is rung; 0: the cell is not running */
	u32 instance;
	/* the open file whose write() sends keys, or NULL */
	const struct console_file *keyboard;
	bool gone;
};

void qv_console_ring(struct qv_console *c);	/* rings the cell's doorbell */
/* Sends the inmate a request: QV_REQUEST_* of qv/cell.h */
void qv_console_request(struct qv_console *c, u32 request);

#endif
