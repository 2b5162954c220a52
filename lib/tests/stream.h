/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One end of a stream of items through a channel, with a checker. Included by a program of Linux
 * (tests/lab/programs/chanstream.c) and by a command of Quest (inmates/tests/image/cmd_stream.c).
 * Item k is k in eight words that belong together, so a torn item is seen.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <qv/end.h>

#define STREAM_WORDS	8
#define STREAM_ITEM	(8 * STREAM_WORDS)

struct stream {
	uint64_t items;		/* to send, or number of the last one to take */
	bool any_end;		/* the peer may end before that */
	void (*idle)(void);	/* called while there is nothing to do */
	void (*ring)(void);	/* called after each item; may set .wrong */
	uint64_t done, lost;	/* results: items sent or taken, items that the reader missed */
	int result;		/* why it ended: enum qv_chan_result */
	const char *wrong;	/* NULL: nothing */
};

static void stream_fill(uint64_t *item, uint64_t value)
{
	uint32_t i;

	for (i = 0; i < STREAM_WORDS; i++)
		item[i] = value ^ (uint64_t)i << 56;
}

/* Returns the value of an item, or 0 if the item is torn. */
static uint64_t stream_value(const uint64_t *item)
{
	uint32_t i;

	for (i = 1; i < STREAM_WORDS; i++)
		if ((item[i] ^ item[0]) != (uint64_t)i << 56)
			return 0;
	return item[0];
}

static bool stream_waits(int result)
{
	return result == QV_CHAN_NOTHING || result == QV_CHAN_LAPPED || result == QV_CHAN_ABSENT ||
	       result == QV_CHAN_FULL;
}

/* The call gave neither an item nor a reason to wait. Checks that the peer has ended, as it may */
static void stream_ended(struct stream *s, int result)
{
	bool ended = result == QV_CHAN_STOPPED || result == QV_CHAN_FAILED ||
		     result == QV_CHAN_RESTARTED;

	s->result = result;
	if (!ended || !s->any_end)
		s->wrong = qv_chan_sentence(result);
}

static bool stream_send_one(struct qv_end *end, struct stream *s, uint64_t value)
{
	uint64_t item[STREAM_WORDS];
	int result;

	stream_fill(item, value);
	while (stream_waits(result = qv_end_write(end, item, sizeof(item))))
		s->idle();
	if (result)
		stream_ended(s, result);
	else
		s->done++;
	s->ring();
	return !result && !s->wrong;
}

/* Takes one item. *last: value of the one before, then of this one */
static bool stream_take_one(struct qv_end *end, struct stream *s, uint64_t *last)
{
	uint64_t item[STREAM_WORDS], value;
	struct qv_item about = { 0 };
	bool every = end->page.type == QV_CHAN_MAILBOX || end->page.full == QV_CHAN_FULL_ERROR ||
		     end->page.full == QV_CHAN_FULL_BLOCK;
	int result;

	while (stream_waits(result = qv_end_read(end, item, sizeof(item), &about)))
		s->idle();
	if (result) {
		stream_ended(s, result);
		return false;
	}
	value = stream_value(item);
	if (!value)
		s->wrong = "an item is torn";
	else if (value <= *last)
		s->wrong = "an item is not newer than the one before";
	else if (every && *last && value != *last + 1)
		s->wrong = "an item is lost";
	s->lost += about.lost;
	s->done++;
	s->ring();
	*last = value;
	return !s->wrong;
}

/* Waits until the other end is there, so that both run at the same time */
static void stream_meet(struct qv_end *end, struct stream *s)
{
	struct qv_end_status now;

	for (;; s->idle()) {
		qv_end_status(end, &now);
		if (now.attached || (s->any_end && now.peer != QV_CHAN_IS_RUNNING))
			return;
	}
}

/* Waits for room, so that a writer that drops the newest item does not drop the last */
static void stream_drained(struct qv_end *end, struct stream *s)
{
	struct qv_end_status now;

	for (;; s->idle()) {
		qv_end_status(end, &now);
		if (now.waiting < end->page.slots || now.peer != QV_CHAN_IS_RUNNING)
			return;
	}
}

/* The first end sends and the other one takes. In a mailbox, the other one sends all back. */
static void stream(struct qv_end *end, struct stream *s)
{
	bool mailbox = end->page.type == QV_CHAN_MAILBOX, more = true;
	uint64_t value, sent, last = 0;

	if (end->page.item != STREAM_ITEM || end->page.type == QV_CHAN_MEMORY) {
		s->wrong = "items of 64 bytes are needed";
		return;
	}
	if (end->self) {
		while (more && last < s->items) {
			more = stream_take_one(end, s, &last);
			if (more && mailbox)
				more = stream_send_one(end, s, last);
		}
		return;
	}
	stream_meet(end, s);
	for (value = 1; more && value <= s->items; value++) {
		if (value == s->items && end->page.full == QV_CHAN_DROP_NEWEST)
			stream_drained(end, s);
		more = stream_send_one(end, s, value);
		sent = value;
		if (!more || !mailbox)
			continue;
		more = stream_take_one(end, s, &last);
		if (more && last != sent)
			s->wrong = "another item came back";
		more &= !s->wrong;
	}
}

#endif
