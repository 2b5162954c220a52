/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A channel of cells, and Linux's end of it. The list of channels is used with qv_lock held. A
 * channel with an end of Linux exists until the last file on it is closed, but its memory only
 * until the channel goes. The rule for all that a program can cause, reads, writes, mappings and
 * bells: it uses the memory, or its address, with .lock held and only if .gone is false.
 * qv_channel_withdraw() sets .gone with .lock held, so after it only the caller uses the memory.
 */
#ifndef QV_PARTS_CHANNELS_H
#define QV_PARTS_CHANNELS_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/qv.h>
#include <qv/end.h>
#include "abi/limits.h"

struct qv_cell;
struct qv_channel_mem;

struct qv_channel_dev {
	struct list_head list;
	struct qv_chan_page page;	/* its description, without session and life words */
	u32 cells;			/* number of cells that list it */
	u32 num_mem;			/* its memory */
	struct qv_channel_mem *mem[QV_MON_CHANNEL_PAGES];

	/* ---- only with an end of Linux ---- */
	struct device dev;		/* its reference count counts for the channel */
	struct cdev cdev;
	s32 self;			/* the end of Linux; below 0: it has none */
	u32 uid, gid, mode;		/* of the device; .mode 0: QV_CHANNEL_MODE */
	int irq;			/* its bell; 0: none */
	atomic_t bells;			/* number of bells that have arrived, and of other news */
	raw_spinlock_t bell_lock;	/* protects the next two members */
	u64 bell;			/* index of a CPU << 56 | vector: QV_HC_BELL; 0: shut */
	bool bell_open;			/* the monitor has the channel */
	/*
	 * Protects all members below, and the memory (see above). A page fault of a mapping takes
	 * it, so its holder copies a program's memory without page faults only
	 */
	struct mutex lock;
	wait_queue_head_t wait;
	/* wakes programs in poll(): an end that attaches rings no bell */
	struct delayed_work look;
	void *window;			/* the channel, in one piece */
	struct qv_end end;
	bool attached;			/* .end is valid */
	u64 peer_seen;			/* generation of the peer whose attaching was reported */
	bool unanswered;		/* a mailbox: a question to a peer that restarted is lost */
	const char *error;		/* of the last read() or write() that failed; or NULL */
	u64 error_ns;			/* when, by CLOCK_BOOTTIME */
	bool made;			/* the monitor has made the channel */
	bool gone;			/* no cell lists it: its memory is no longer there */
	struct file *claimed;		/* this file alone uses the section of Linux */
	struct file *writer;		/* the file that is open for writing */
	struct list_head nodes;		/* of struct qv_channel_node: channel_maps.c */
};

struct qv_channel_node;

/* An open file on a channel. All but .armed is used with .lock of the channel held */
struct qv_channel_file {
	struct qv_channel_dev *c;
	struct qv_channel_node *node;
	struct page *spare;		/* a mapping for writing shows it after the channel */
	u32 armed;			/* .bells when the file was armed: QV_CHANNEL_ARM */
	/* The last value of a four-slot that it has read: generation of the writer, and number */
	u64 seen[2];
};

/* An item that a program reads or writes */
struct qv_channel_move {
	char __user *at;		/* in the program */
	size_t bytes;			/* of the item: known before a write, and after a read */
	bool writes;
	bool again;			/* a read may find the last value again */
	bool rings;			/* out: the caller must call qv_channel_ring() now */
};

/*
 * channel_memory.c. Takes memory for the channel: 0, -ENOMEM, or -ENOSPC if the monitor has no
 * room. give() is also for a channel whose take() has failed, or whose memory is given already
 */
int qv_channel_memory_take(struct qv_channel_dev *c);
void qv_channel_memory_give(struct qv_channel_dev *c);
/* The monitor did not give the channel's memory back: Linux never uses it again */
void qv_channel_memory_lost(struct qv_channel_dev *c);
struct page *qv_channel_page(const struct qv_channel_dev *c, u64 at);	/* of the byte @at */
/* Returns the bytes of Linux that the channels of a cell take */
u64 qv_channel_memory_of(const struct qv_cell *cell);
/*
 * 2 MiB for channels at run time, or an error as of qv_channel_memory_take(). They exist until
 * put() and until each channel is freed that uses them
 */
struct qv_channel_mem *qv_channel_mem_take(void);
void qv_channel_mem_put(struct qv_channel_mem *h);
/* the channel lies there */
void qv_channel_mem_use(struct qv_channel_mem *h, struct qv_channel_dev *c);
u64 qv_channel_mem_pa(const struct qv_channel_mem *h);

struct qv_channel_key;

bool qv_channel_name_ok(const char *name);	/* channels.c: true if it is the name of an end */

/* channel_keys.c: Linux's end of a channel at run time. They return an errno, with the reason */
int qv_key_open(struct qv_channel_key *a, struct qv_cell *cell);
int qv_key_close(struct qv_channel_key *a, struct qv_cell *cell);

/* channel_device.c: makes and removes /dev/qv-channel/NAME. Returns an errno */
int qv_channel_publish(struct qv_channel_dev *c);
void qv_channel_withdraw(struct qv_channel_dev *c);
/* Prepares the members of Linux's end. put_device(&c->dev) frees the channel */
void qv_channel_init(struct qv_channel_dev *c);
/* The other end, or the channel, has another state: all programs look */
void qv_channel_news(struct qv_channel_dev *c);
void qv_channel_unload(void);

/*
 * channel_maps.c. open() and close() are called for each file, with .lock of the channel held. So
 * is end(), after .gone was set: it takes the pages of all mappings away. They return an errno
 */
int qv_channel_maps_open(struct qv_channel_file *f, struct file *file);
void qv_channel_maps_close(struct qv_channel_file *f);
void qv_channel_maps_end(struct qv_channel_dev *c);
int qv_channel_mmap(struct file *file, struct vm_area_struct *vma);

/* channel_words.c: the words of a cell's file */
const char *qv_channel_type(const struct qv_chan_page *page);
const char *qv_channel_full(const struct qv_chan_page *page);
const char *qv_channel_reconnect(const struct qv_chan_page *page);
const char *qv_channel_bell(const struct qv_chan_page *page);

#define QV_CHANNEL_WORD		80	/* longest word of a file, with its key */

/* All that the files of a channel's ends must say alike */
struct qv_channel_view {
	const struct qv_chan_page *page;
	u32 uid, gid, mode;
};

/* Writes the first words in which they differ. Returns false if they are the same */
bool qv_channel_differs(const struct qv_channel_view *a, const struct qv_channel_view *b,
			char word_a[QV_CHANNEL_WORD], char word_b[QV_CHANNEL_WORD]);

/* channel_sysfs.c: the attributes of the device */
/* The word of an end that its monitor instance and the manager write. 0 before the first start */
u64 qv_channel_life(struct qv_channel_dev *c, u32 end);
extern const struct attribute_group *qv_channel_groups[];
/* Sends a uevent: the cell @end has started, or has stopped or failed. Wakes readers of `state` */
void qv_channel_announce(struct qv_channel_dev *c, const char *end, bool starts);

/*
 * channel_bell.c. make() returns an errno. open(): the monitor has the channel now. A channel
 * without bells, or without an end of Linux, is left as it is
 */
int qv_channel_bell_make(struct qv_channel_dev *c);
void qv_channel_bell_open(struct qv_channel_dev *c);
void qv_channel_bell_free(struct qv_channel_dev *c);
void qv_channel_bell_unload(void);
/* Rings the bells of the cells, unless the channel is gone. May sleep */
void qv_channel_ring(struct qv_channel_dev *c);
/* The same after qv_channel_withdraw(), for the caller of that */
void qv_channel_ring_last(struct qv_channel_dev *c);

/*
 * channel_io.c. They return bytes, 0 at the end of the channel, or an errno. -EAGAIN: not now.
 * -EFAULT: the item was not moved, since its bytes in the program are not there at present
 */
ssize_t qv_channel_read(struct qv_channel_file *f, struct qv_channel_move *m);
ssize_t qv_channel_write(struct qv_channel_file *f, struct qv_channel_move *m);
/* The program that had claimed the end is gone. The next one may not arm, or not know that word */
void qv_channel_unclaimed(struct qv_channel_dev *c);
/* Before a look: asks for one bell if there is news after that look. QV_CHAN_ONE_SHOT only */
void qv_channel_arm(struct qv_channel_dev *c);
/* Returns the events of poll(). Changes nothing that the other end, or a call, can see */
__poll_t qv_channel_ready(struct qv_channel_file *f);
/* Returns true once for each life of the other end that has attached to a mailbox of Linux */
bool qv_channel_attaches(struct qv_channel_dev *c);
/* Returns .error, and when that was */
const char *qv_channel_error(struct qv_channel_dev *c, u64 *ns);
/* Returns false if the monitor has not made the channel yet, or no cell lists it now */
bool qv_channel_status(struct qv_channel_dev *c, struct qv_end_status *status);

#endif
