/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One end of a channel (qv/channel.h). The same code serves Linux programs (libqv), inmates and
 * tests. It needs no C library, no memory of its own, and never waits: each call takes a bounded
 * number of steps, whatever the peer does. struct qv_end is private to its end. One thread at a
 * time may use it.
 *
 * A call that can do its work does it, even if the peer is dead: queued items can be drained. Only
 * a call that cannot do its work returns the peer's state.
 */
#ifndef QV_END_H
#define QV_END_H

#include <stdbool.h>
#include <qv/channel.h>

enum qv_chan_result {
	QV_CHAN_DONE		= 0,
	QV_CHAN_NOTHING		= -1,	/* no item that is newer than the last one */
	QV_CHAN_FULL		= -2,	/* ring: no free slot; mailbox: not this end's turn */
	/* a word in the peer's section cannot be right; calling again repeats the check */
	QV_CHAN_CORRUPT		= -3,
	/*
	 * The peer has a new generation. Items of the old one are gone. With QV_CHAN_RECONNECT this
	 * is returned once, and the next call binds to the new generation; else it is final.
	 */
	QV_CHAN_RESTARTED	= -4,
	QV_CHAN_STOPPED		= -5,	/* the peer is stopped */
	QV_CHAN_FAILED		= -6,	/* the peer failed */
	QV_CHAN_ABSENT		= -7,	/* the peer does not exist, or has not attached yet */
	QV_CHAN_LAPPED		= -8,	/* drop-oldest: items are overwritten during reads */
	QV_CHAN_SIZE		= -9,	/* the buffer does not have the size of an item */
	QV_CHAN_USAGE		= -10,	/* this end, or a channel of this type, has no such call */
	QV_CHAN_LAYOUT		= -11,	/* the life page is malformed, or of an unknown version */
	QV_CHAN_OWN_SECTION	= -12,	/* this end's own section has values that no end writes */
};

/* An item that was read */
struct qv_item {
	uint64_t number;	/* from 1, as the writer offered them */
	uint64_t lost;		/* items between the one read before and this one */
	uint64_t bytes;		/* of the payload */
};

/* State of one end. Zeroed, then filled by qv_end_attach(). */
struct qv_end {
	struct qv_chan_page page;	/* checked copy; its words `life` are not used */
	unsigned char *window;		/* the channel */
	uint32_t self, peer;		/* indices of ends; a four-slot writer has no single peer */
	uint64_t generation;		/* of this end */
	uint64_t peer_generation;	/* to which this end is bound; 0: to none */
	uint64_t count;			/* own words, which need no load */
	uint64_t freed, lost, high;
	uint64_t seen;			/* count of the peer that was loaded last */
	uint64_t last;			/* number of the item that was taken last; 0: none */
	uint64_t chosen[QV_CHAN_MAX_ENDS];	/* four-slot writer: as section.slot */
	bool claimed;			/* between claim, and commit or abort */
	bool peeked;			/* between peek and release */
	bool ended;			/* the connection ended: no QV_CHAN_RECONNECT */
	uint64_t number;		/* of the item that is claimed or peeked; or the last */
	uint64_t more;			/* items after the first that are claimed or peeked */
	uint64_t place;			/* and its slot */
	uint64_t bytes;			/* of the message that is peeked */
	uint64_t armed;			/* as section.armed of this end */
	bool arms;			/* as section.arms of this end */
	/* section.armed of each end that arms when it was rung, and its generation then */
	uint64_t rung[QV_CHAN_MAX_ENDS], rung_generation[QV_CHAN_MAX_ENDS];
};

/* The result of qv_end_status(). All values of the peer are its claims. */
struct qv_end_status {
	uint64_t generation, peer_generation;
	enum qv_chan_state peer;	/* the first reader, for a writer of a four-slot */
	bool attached;			/* the peer has attached under its generation */
	uint64_t waiting, high;		/* items in the ring, and the most that its reader found */
	uint64_t items;			/* published; four-slot: number of the last */
	uint64_t lost, refused;		/* items */
};

/*
 * Fills in size, offsets, sizes and length of a page from its type, full, flags, ends, item and
 * slots. Returns NULL, or why no such channel can be: a sentence without a full stop.
 */
const char *qv_chan_lay_out(struct qv_chan_page *page);
/*
 * The same for a channel at run time. All words of the page are 0 except type, full, item, slots
 * and in flags QV_CHAN_BELL and QV_CHAN_ONE_SHOT. Fills in key, name and ends, too: end 0 is the
 * cell `first` (or "linux"), end 1 is `second`.
 */
const char *qv_chan_describe_key(struct qv_chan_page *page, uint32_t key, const char *first,
				 const char *second);
/*
 * Checks the copy of a life page against a window of `length` bytes. Returns NULL or the reason.
 * Accepts other places of sections than those of qv_chan_lay_out() if they do not overlap.
 */
const char *qv_chan_check(const struct qv_chan_page *copy, uint64_t length);

/*
 * Attaches as end `self` to the channel at `window`. Takes over the words of its section, so a
 * program that replaces another under the same generation continues where the other ended.
 * Returns QV_CHAN_LAYOUT, QV_CHAN_USAGE (no such end), QV_CHAN_ABSENT (this end is not running) or
 * QV_CHAN_OWN_SECTION.
 */
int qv_end_attach(struct qv_end *end, void *window, uint64_t length, uint32_t self);

/*
 * Writes an item. `size` is that of an item, for a mailbox at most that. QV_CHAN_DROP_NEWEST and
 * QV_CHAN_DROP_OLDEST always succeed.
 */
int qv_end_write(struct qv_end *end, const void *data, uint64_t size);
/*
 * Zero copy: sets *data to room for an item, which no reader sees before the commit. A second claim
 * returns the same room. With QV_CHAN_DROP_OLDEST and a full ring, the oldest item is lost at the
 * claim. With QV_CHAN_DROP_NEWEST and a full ring, the claim drops and returns QV_CHAN_FULL.
 */
int qv_end_claim(struct qv_end *end, void **data);
int qv_end_commit(struct qv_end *end, uint64_t size);
int qv_end_abort(struct qv_end *end);

/*
 * Takes the next item of a ring or mailbox, or the last value of a four-slot if it is newer than
 * the one taken before. Copies it to `data`, which has `size` bytes: at least an item.
 * If the result is not QV_CHAN_DONE, the contents of `data` mean nothing.
 */
int qv_end_read(struct qv_end *end, void *data, uint64_t size, struct qv_item *item);
/* The same for a four-slot, and returns the last value again if there is no newer one. */
int qv_end_read_again(struct qv_end *end, void *data, uint64_t size, struct qv_item *item);
/*
 * Zero copy: sets *data to the item in the channel. A hostile writer may change it at any time, so
 * copy before you check. A second peek returns the same item. The release says whether
 * the item was intact all the time: QV_CHAN_LAPPED, QV_CHAN_RESTARTED, QV_CHAN_CORRUPT.
 */
int qv_end_peek(struct qv_end *end, const void **data, struct qv_item *item);
int qv_end_release(struct qv_end *end);

/*
 * The same for several items of a ring, with one look at the life word and one at each count.
 * claim_n() and peek_n() return how many items there are, from 1 to `n`, or a result below 0. Item
 * `i`, from 0, is at qv_end_claimed() or qv_end_peeked(), which return NULL after the last.
 * commit_n() and release_n() take the first `n`, at least 1, and give up the rest: no reader sees
 * it, or it stays in the ring. If release_n() fails it has taken none of the items.
 */
int qv_end_claim_n(struct qv_end *end, uint32_t n);
void *qv_end_claimed(const struct qv_end *end, uint32_t i);
int qv_end_commit_n(struct qv_end *end, uint32_t n);
int qv_end_peek_n(struct qv_end *end, uint32_t n);
/* All words of *item are claims of the writer before the release. NULL: not of interest */
const void *qv_end_peeked(const struct qv_end *end, uint32_t i, struct qv_item *item);
int qv_end_release_n(struct qv_end *end, uint32_t n);

/*
 * Returns whether to ring the bell of the other ends, after an item was written, or taken from a
 * ring. An end that arms, as all do with QV_CHAN_ONE_SHOT, is to be rung if it has armed its bell
 * since it was rung; any other end with QV_CHAN_BELL always. The caller must ring then: an end that
 * arms does not count in the next call.
 */
bool qv_end_rings(struct qv_end *end);
/*
 * Says that this end arms its bell before it waits, or that it no longer does. At first it does
 * not, so it is rung after each item. Call it before you look for news. Changes nothing with
 * QV_CHAN_ONE_SHOT or without QV_CHAN_BELL.
 */
void qv_end_will_arm(struct qv_end *end, bool on);
/*
 * Asks for one bell, or says that it is no longer needed. To wait, an end arms its bell, looks, and
 * sleeps only if it finds no news. Does nothing for an end that does not arm.
 */
void qv_end_arm(struct qv_end *end, bool on);

/* The bytes of QV_CHAN_MEMORY. *writable: this end may write them. */
int qv_end_memory(struct qv_end *end, void **data, uint64_t *size, bool *writable);

void qv_end_status(const struct qv_end *end, struct qv_end_status *status);
/*
 * Returns whether this is the writer of a ring in which a write finds no room, and has to wait. It
 * is false if the write has another result, such as QV_CHAN_CORRUPT. Unlike a claim it counts no
 * refused item.
 */
bool qv_end_full(const struct qv_end *end);
/* Returns a sentence for a result, and for a person what to do about it. Never NULL. */
const char *qv_chan_sentence(int result);

#endif
