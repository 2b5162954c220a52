/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The format of a channel: memory that named ends share. An end is a cell or the front end (Linux).
 * Documentation/reference/channel-format.md explains it, with a program that uses this file alone.
 *
 * A channel is a window of at most 16 MiB. All numbers are little-endian. It begins with the life
 * page, which both ends may only read: the manager writes all of it before the first end starts,
 * and the monitor instance of an end (or the manager) updates the word `life` of that end. Sections
 * follow, each in pages of its own. One end alone may write a section; for every other end the
 * nested tables make it read-only. There are no pointers in a channel.
 *
 * Rules for every end:
 * - Copy the life page once when you attach, check the copy with these limits, use the copy.
 *   Only the words `life` change later.
 * - Load each word of a foreign section once, then check the loaded value, then use it.
 * - Opening initializes nothing. The manager zeroes a section before its end starts under a new
 *   generation. Zero is a valid state of each word.
 *
 * Every word that can change is an aligned uint64_t with one writer. Payload is copied in such
 * words, too. Memory ordering: each load is an acquire, each store is a release (x86: plain MOV on
 * write-back memory). The stores that are marked FENCED must be complete before the next load
 * (x86: XCHG, or MOV and MFENCE). With QV_CHAN_BELL each store of `count` is FENCED if the end then
 * loads `arms` and `armed` of the others, to learn whether to ring.
 */
#ifndef QV_CHANNEL_H
#define QV_CHANNEL_H

#ifdef __KERNEL__
#include <linux/types.h>
#elif !defined(QV_FREESTANDING_TYPES)
#include <stdint.h>
#endif

#define QV_CHAN_MAGIC		0x4C4E4E4148435651ull	/* "QVCHANNL" */
#define QV_CHAN_VERSION		1
#define QV_CHAN_PAGE		4096u		/* alignment of sections, size of the life page */
#define QV_CHAN_MAX_CHANNELS	16		/* channels of a cell, at run time too */
#define QV_CHAN_MAX_LENGTH	(16u << 20)	/* bytes of a whole channel */
#define QV_CHAN_MIN_ITEM	8u		/* bytes of an item; a multiple of 8 */
#define QV_CHAN_MAX_READERS	8u
#define QV_CHAN_MAX_ENDS	9u		/* end 0, then the others */
#define QV_CHAN_NAME_LEN	32u		/* with the NUL */
#define QV_CHAN_SCHEMA_LEN	64u		/* with the NUL */

/* qv_chan_page.type */
enum qv_chan_type {
	/*
	 * Half duplex between ends 0 and 1. Each has one slot and one counter. Messages have 0 to
	 * `item` bytes. If the counters are equal, end 0 may write. If the counter of end 0 is one
	 * ahead, end 1 may write.
	 */
	QV_CHAN_MAILBOX		= 1,
	/*
	 * The last value (H. Simpson, "Four-slot fully asynchronous communication mechanism", IEE
	 * Proceedings 137 E 1, 1990). Writer and readers never wait. End 0 writes, and 1 to 8
	 * ends read.
	 */
	QV_CHAN_FOUR_SLOT	= 2,
	/* A queue from end 0 to end 1 */
	QV_CHAN_RING		= 3,
	/* Raw bytes in section 0. Each end with QV_CHAN_END_WRITES may write them. */
	QV_CHAN_MEMORY		= 4,
};

/* qv_chan_page.full: the policy of a writer when a ring has no free slot; 0 for other types */
enum qv_chan_full {
	QV_CHAN_FULL_ERROR	= 1,	/* it refuses the item; nothing is lost */
	QV_CHAN_FULL_BLOCK	= 2,	/* the same, and a program's library waits for a slot */
	QV_CHAN_DROP_NEWEST	= 3,	/* it drops the item and counts it */
	QV_CHAN_DROP_OLDEST	= 4,	/* it overwrites the oldest; the reader finds the gap */
};

/* qv_chan_page.flags */
#define QV_CHAN_BELL		(1u << 0)	/* a write is followed by a doorbell */
/* ends bind to the next generation of a peer; else a restart of the peer ends the connection */
#define QV_CHAN_RECONNECT	(1u << 1)
/* with QV_CHAN_BELL: an end rings only if another end has armed its bell, once for each arming */
#define QV_CHAN_ONE_SHOT	(1u << 2)

/* qv_chan_end.flags */
#define QV_CHAN_END_WRITES	(1u << 0)	/* may write section 0 of QV_CHAN_MEMORY */

/*
 * qv_chan_end.life: generation << 8 | state, in one word. The manager takes generations from a
 * counter that never repeats a value, so a generation is the session id of an end, and the two
 * generations of a connection are the session id of the connection. 0: this end never started.
 */
#define QV_CHAN_LIFE(generation, state) ((uint64_t)(generation) << 8 | (state))
#define QV_CHAN_GENERATION(life) ((life) >> 8)
#define QV_CHAN_STATE(life)	((unsigned int)((life) & 0xff))

enum qv_chan_state {
	QV_CHAN_IS_ABSENT	= 0,	/* not created yet, detached, or destroyed */
	QV_CHAN_IS_RUNNING	= 1,
	QV_CHAN_IS_STOPPED	= 2,	/* its section keeps its contents */
	QV_CHAN_IS_FAILED	= 3,	/* as stopped */
};

/* One end, in the life page */
struct qv_chan_end {
	uint64_t life;		/* QV_CHAN_LIFE; its monitor instance and the manager write it */
	uint64_t offset;	/* of its section, from the window's start; a multiple of 4096 */
	uint64_t size;		/* bytes of its section, a multiple of 4096; 0: it has none */
	uint32_t flags;		/* QV_CHAN_END_* */
	uint32_t reserved;
	char name[QV_CHAN_NAME_LEN];	/* the cell's name, or "linux"; NUL-terminated */
};

/* The life page. All but the words `life` is fixed before the first end starts. */
struct qv_chan_page {
	uint64_t magic;		/* QV_CHAN_MAGIC */
	uint32_t version;	/* QV_CHAN_VERSION. A higher one may have more words at the end. */
	uint32_t size;		/* bytes of this structure */
	uint64_t session;	/* new whenever the manager makes the channel's memory; not 0 */
	uint64_t key;		/* of a channel that was made at run time; 0: it has only a name */
	char name[QV_CHAN_NAME_LEN];	/* NUL-terminated */
	char schema[QV_CHAN_SCHEMA_LEN];	/* NAME@HASH of the payload; empty: not said */
	uint32_t type;		/* enum qv_chan_type */
	uint32_t full;		/* enum qv_chan_full */
	uint32_t flags;		/* QV_CHAN_* */
	uint32_t ends;		/* number of ends, 2 to QV_CHAN_MAX_ENDS */
	uint64_t item;		/* bytes of an item; QV_CHAN_MEMORY: bytes of the memory */
	uint64_t slots;		/* of a ring: a power of two; other types: 1 */
	uint64_t length;	/* bytes of the whole window */
	uint64_t reserved[11];
	struct qv_chan_end end[QV_CHAN_MAX_ENDS];
};

/*
 * The head of a section. Its end alone writes it. Words that the end of a type does not need are 0.
 * Only QV_CHAN_MEMORY has no such head: its section is all payload.
 */
struct qv_chan_section {
	/*
	 * The generation under which this end wrote the section, stored last when it attaches. If
	 * this differs from the end's life word, the end has not attached yet: ignore the section.
	 */
	uint64_t generation;
	/*
	 * The peer's generation to which `count` refers (mailbox, reader of a ring). The order of
	 * stores is: bound = 0, count, bound. If this is not the generation of the end that loads
	 * it, then `count` is not valid yet.
	 */
	uint64_t bound;
	/*
	 * With QV_CHAN_ONE_SHOT, or if `arms` is not 0: odd while this end waits for a bell
	 * (FENCED), even else. Each arming makes it the next odd number.
	 */
	uint64_t armed;
	/*
	 * With QV_CHAN_BELL and without QV_CHAN_ONE_SHOT: 1 if this end arms its bell before it
	 * waits, so that the others may ring it only then (FENCED). 0: they ring it after each
	 * item. An end that attaches stores 0 if it finds another value.
	 */
	uint64_t arms;
	uint64_t reserved0[4];
	/*
	 * Mailbox: messages that this end has sent. Ring: items that the writer has published, or
	 * that the reader has taken. Four-slot writer: the pair written last (`latest`, FENCED).
	 * Four-slot reader: the pair that it reads (`reading`, FENCED).
	 */
	uint64_t count;
	uint64_t reserved1[7];
	uint64_t bytes;		/* mailbox: length of the message in the slot */
	uint64_t lost;		/* ring: items that the writer dropped, or that the reader missed */
	uint64_t refused;	/* ring's writer: items that found no free slot (not dropped) */
	uint64_t freed;		/* ring's writer: the reader's count that it last saw */
	uint64_t high;		/* ring's reader: the most items that it found waiting */
	uint64_t last;		/* reader: number of the item that it took last */
	uint64_t reserved2[2];
	/* four-slot writer: the slot (0 or 1) of each pair that was written last */
	uint64_t slot[QV_CHAN_MAX_ENDS];
	uint64_t reserved3[31];
};

#define QV_CHAN_DATA		512u	/* offset of slot 0 in a section with slots */

/*
 * A slot: this head, then the item. Items are numbered from 1 as their writer offers them, dropped
 * ones included. The writer stores `begin`, then the item, then `end`. A reader loads `end`, then
 * the item, then `begin`: the item is whole if both are equal.
 */
struct qv_chan_slot {
	uint64_t begin;		/* number of the item that is, or is being, written */
	uint64_t end;		/* number of the item that is complete; 0: none */
};

/* Bytes from one slot to the next. The item begins at a multiple of 16. */
#define QV_CHAN_STRIDE(item)	((sizeof(struct qv_chan_slot) + (item) + 15) & ~(uint64_t)15)

/*
 * Slots of a section: mailbox, 1 per end. Ring, `slots` of end 0: item k (from 0) is in slot
 * k % slots. Four-slot, 2 * ends of end 0: slot i of pair p is number 2 * p + i; there are as many
 * pairs as ends.
 */

#endif
