/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QV_LIB_LINUX_H
#define QV_LIB_LINUX_H

#include <qv/libqv.h>

/* Where a channel comes from: qv.ko, or a file. */
struct source {
	void (*ring)(struct qv_channel *channel);	/* sends a bell to the other ends */
	void (*arm)(struct qv_channel *channel);	/* forgets bells that have arrived */
	void (*close)(struct qv_channel *channel);	/* closes descriptors, not the window */
};

struct qv_channel {
	struct qv_end end;
	const struct source *source;
	void *window;
	size_t length;
	int file;			/* the device, or the file with the window */
	int bells[QV_CHAN_MAX_ENDS];	/* files only: the FIFOs */
	int waits;			/* descriptor for poll() */
	bool waited;			/* a call could wait: this end arms its bell since then */
};

/* Keeps a text for qv_detail(), and returns `result`. */
int lib_fail(int result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a call of qv/end.h on the channel `name`, of QV_CHAN_NAME_LEN bytes. */
int lib_fail_call(int result, const char *name);
/* The same for a system call that failed with errno. */
int lib_fail_system(const char *call, const char *path);
/* Maps the window as end `self` of a channel whose descriptor and source are set, and attaches. */
int lib_attach(struct qv_channel *channel, const char *path, uint64_t length, uint32_t self);

#endif
