/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Declarations that the files of this folder share */
#ifndef QV_LIB_INTERNAL_H
#define QV_LIB_INTERNAL_H

#include <qv/end.h>
#include "shared.h"

/* The functions of a type. A read is find, then access to the payload, then intact, then taken. */
struct end_type {
	/* Takes over own words when this end attaches. `fresh`: it is the first time. */
	int (*attach)(struct qv_end *end, bool fresh);
	/* Makes own words refer to the generation to which this end is bound from now on. */
	int (*bind)(struct qv_end *end);
	/* Finds room for an item: sets end->place and end->number. */
	int (*claim)(struct qv_end *end);
	/* Makes the claimed item visible. */
	void (*publish)(struct qv_end *end, uint64_t size);
	/* Finds the next item: sets end->place, end->number and end->bytes. */
	int (*find)(struct qv_end *end, bool again);
	/* Records that the item was taken. */
	void (*taken)(struct qv_end *end, struct qv_item *item);
	/*
	 * A whole write or read in one step, or NULL: then the caller takes the steps above. The
	 * end has claimed and peeked nothing, and `data` has the size of an item. read(): the
	 * connection has not ended; END_UNUSUAL asks the caller to take the steps.
	 */
	int (*write)(struct qv_end *end, const void *data);
	int (*read)(struct qv_end *end, void *data, struct qv_item *item);
	bool second_writes;		/* end 1 writes, too */
	bool writer_binds;		/* the writer's own words refer to the peer */
};

#define END_UNUSUAL	1	/* no enum qv_chan_result */

extern const struct end_type end_mailbox, end_four_slot, end_ring;

static inline struct qv_chan_section *end_section(const struct qv_end *end, uint32_t which)
{
	return (struct qv_chan_section *)(end->window + end->page.end[which].offset);
}

/* Slot `place` in the section of end `which`. */
static inline struct qv_chan_slot *end_slot(const struct qv_end *end, uint32_t which,
					     uint64_t place)
{
	unsigned char *first = end->window + end->page.end[which].offset + QV_CHAN_DATA;

	return (struct qv_chan_slot *)(first + place * QV_CHAN_STRIDE(end->page.item));
}

/*
 * Publishes a counter of this end. With bells every CPU sees it before this CPU loads the words
 * `arms` and `armed` of the other ends: either this end finds the bell armed, or the other finds
 * the counter when it looks after arming.
 */
static inline void end_publish(const struct qv_end *end, uint64_t *word, uint64_t value)
{
	if (end->page.flags & QV_CHAN_BELL)
		shared_store_fenced(word, value);
	else
		shared_store(word, value);
}

/* Loads the life word of an end. */
static inline uint64_t end_life(const struct qv_end *end, uint32_t which)
{
	const struct qv_chan_page *page = (const struct qv_chan_page *)end->window;

	return shared_load(&page->end[which].life);
}

/* end.c: the steps of a call, for ring_n.c. They return enum qv_chan_result. */
/* Finds an item, if this end reads and has claimed nothing. */
int end_find_item(struct qv_end *end, bool again);
/* Returns QV_CHAN_DONE if this end is bound to the peer's generation, or binds now. */
int end_bound(struct qv_end *end);
/* Returns `result`, or QV_CHAN_RESTARTED if the peer restarted since end_bound(). */
int end_conclude(struct qv_end *end, int result);

/* Returns why there is no item or no room: `usual` while the peer runs, else its state. */
static inline int end_reason(const struct qv_end *end, int usual)
{
	switch (QV_CHAN_STATE(end_life(end, end->peer))) {
	case QV_CHAN_IS_RUNNING: return usual;
	case QV_CHAN_IS_STOPPED: return QV_CHAN_STOPPED;
	case QV_CHAN_IS_FAILED: return QV_CHAN_FAILED;
	default: return QV_CHAN_ABSENT;
	}
}

#endif
