// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile peer sets each index of its section to extreme values. No call hangs, and those that
 * use the index say that it is corrupt: never "no item" or "no room".
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <qv/libqv.h>
#include "../linux/internal.h"
#include "unit.h"
#include "world.h"

#define TIMEOUT_MS	20
#define HANGS_MS	20000		/* a host may be busy */
#define ITEM		64
#define SLOTS		4
#define HEAD_WORDS	(sizeof(struct qv_chan_section) / 8)
#define WORD(member)	(offsetof(struct qv_chan_section, member) / 8)
#define SLOT_WORD(place, member) ((QV_CHAN_DATA + (place) * QV_CHAN_STRIDE(ITEM) + \
				   offsetof(struct qv_chan_slot, member)) / 8)

static const uint64_t extremes[] = {
	0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff, 0x100000000ull, 0xffffffff00000000ull,
	1ull << 63, (1ull << 63) - 1, ~0ull, ~0ull - 1, 1ull << 48, 12345,
};
#define NUM_EXTREMES	(sizeof(extremes) / sizeof(*extremes))

/* A channel, the end that lies, and the indices that calls of the other end use */
static const struct situation {
	const char *name;
	uint32_t type, full, liar;
	int written;			/* items that the writer has written */
	uint64_t used[4];		/* indices of words; 0: none */
} situations[] = {
	{ "the writer of a ring", QV_CHAN_RING, QV_CHAN_FULL_ERROR, 0, 2,
	  { WORD(count), SLOT_WORD(1, begin), SLOT_WORD(1, end) } },
	{ "the writer of a ring that blocks", QV_CHAN_RING, QV_CHAN_FULL_BLOCK, 0, 2,
	  { WORD(count), SLOT_WORD(1, begin), SLOT_WORD(1, end) } },
	{ "the writer of a ring that drops the newest", QV_CHAN_RING, QV_CHAN_DROP_NEWEST, 0, 2,
	  { WORD(count), SLOT_WORD(1, begin), SLOT_WORD(1, end) } },
	/* it may be any number ahead, so a wrong count looks like items that are lost */
	{ "the writer of a ring that drops the oldest", QV_CHAN_RING, QV_CHAN_DROP_OLDEST, 0, 2,
	  { 0 } },
	{ "the reader of a ring", QV_CHAN_RING, QV_CHAN_FULL_ERROR, 1, SLOTS + 1,
	  { WORD(count) } },
	{ "the reader of a ring that blocks", QV_CHAN_RING, QV_CHAN_FULL_BLOCK, 1, SLOTS + 1,
	  { WORD(count) } },
	{ "the reader of a ring that drops the newest", QV_CHAN_RING, QV_CHAN_DROP_NEWEST, 1,
	  SLOTS + 1, { WORD(count) } },
	{ "the reader of a ring that drops the oldest", QV_CHAN_RING, QV_CHAN_DROP_OLDEST, 1,
	  SLOTS + 1, { 0 } },
	/* the second value is in slot 1 of pair 0, as the reader names pair 1 */
	{ "the writer of a four-slot", QV_CHAN_FOUR_SLOT, 0, 0, 2,
	  { WORD(count), WORD(slot[0]), SLOT_WORD(1, begin), SLOT_WORD(1, end) } },
	{ "the reader of a four-slot", QV_CHAN_FOUR_SLOT, 0, 1, 2, { 0 } },
	{ "the end of a mailbox that begins", QV_CHAN_MAILBOX, 0, 0, 1,
	  { WORD(count), WORD(bytes), SLOT_WORD(0, begin), SLOT_WORD(0, end) } },
	{ "the end of a mailbox that answers", QV_CHAN_MAILBOX, 0, 1, 1, { WORD(count) } },
};

static char path[200];

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t *word_of(struct qv_channel *c, uint32_t end, uint64_t word)
{
	return (uint64_t *)((char *)c->window + c->end.page.end[end].offset) + word;
}

static bool is_used(const struct situation *s, uint64_t word)
{
	size_t i;

	for (i = 0; i < sizeof(s->used) / sizeof(*s->used); i++)
		if (s->used[i] && s->used[i] == word)
			return true;
	return false;
}

/* Makes a new channel in the situation. */
static void begin(const struct situation *s, struct qv_channel **a, struct qv_channel **b)
{
	struct qv_chan_page plan = {
		.type = s->type, .item = ITEM, .slots = s->type == QV_CHAN_RING ? SLOTS : 1,
		.ends = 2, .full = s->full, .name = "extreme",
	};
	uint64_t item[ITEM / 8] = { 1 };
	int i;

	snprintf(path, sizeof(path), "%s/extreme.%d", out_folder(), getpid());
	if (qv_file_create(path, &plan) || qv_file_open(a, path, 0) || qv_file_open(b, path, 1))
		unit_give_up(qv_detail());
	for (i = 0; i < s->written; i++) {
		if (qv_put(*a, &item, 0))
			unit_give_up(qv_detail());
		/* by this read the end refers to the generation of the other one */
		if (!i && (s->type != QV_CHAN_MAILBOX || s->liar) && qv_get(*b, &item, 0))
			unit_give_up(qv_detail());
	}
}

/* A call of the honest end. Returns its result; ends the test if that took too long. */
static int in_time(const struct situation *s, struct qv_channel *honest, bool writes)
{
	uint64_t item[ITEM / 8] = { 2 };
	int64_t start = now_ms();
	int result = writes ? qv_put(honest, &item, TIMEOUT_MS) : qv_get(honest, &item, TIMEOUT_MS);

	if (!CHECK(now_ms() - start < HANGS_MS))
		unit_give_up(s->name);
	return result;
}

/* The honest end calls while a word of the other end has a wrong value. */
static void lie(const struct situation *s, uint64_t word, uint64_t value)
{
	struct qv_channel *ends[2], *honest;
	int result, other;

	unit_case("%s sets word %lu to %#lx", s->name, (unsigned long)word, (unsigned long)value);
	begin(s, &ends[0], &ends[1]);
	honest = ends[!s->liar];
	*word_of(ends[s->liar], s->liar, word) = value;
	if (is_used(s, word) && s->type == QV_CHAN_RING && s->liar)
		CHECK(!qv_end_full(&honest->end));	/* poll() does not wait for it */
	result = in_time(s, honest, s->liar);
	if (is_used(s, word))
		CHECK_EQ(result, QV_CHAN_CORRUPT);
	other = in_time(s, honest, s->liar);
	if (is_used(s, word) && word < HEAD_WORDS)
		CHECK_EQ(other, QV_CHAN_CORRUPT);	/* it stays so */
	if (s->type == QV_CHAN_MAILBOX)
		(void)in_time(s, honest, !s->liar);
	if (s->type == QV_CHAN_FOUR_SLOT && s->liar)
		CHECK_EQ(result, 0);			/* a reader harms only itself */
	qv_close(ends[0]);
	qv_close(ends[1]);
	qv_file_remove(path);
}

static void test_used_indices(void)
{
	size_t i, k, n;

	for (i = 0; i < sizeof(situations) / sizeof(*situations); i++)
		for (k = 0; k < sizeof(situations[i].used) / sizeof(*situations[i].used); k++)
			for (n = 0; situations[i].used[k] && n < NUM_EXTREMES; n++)
				lie(&situations[i], situations[i].used[k], extremes[n]);
}

/* All words of the head, and those of the first slots */
static void test_every_word(void)
{
	size_t i, place;
	uint64_t word;

	for (i = 0; i < sizeof(situations) / sizeof(*situations); i++) {
		const struct situation *s = &situations[i];
		bool slots = !s->liar || s->type == QV_CHAN_MAILBOX;

		for (word = 0; word < HEAD_WORDS; word++) {
			lie(s, word, 0xffffffff);
			lie(s, word, ~0ull);
		}
		for (place = 0; slots && place < (s->type == QV_CHAN_MAILBOX ? 1 : 4); place++) {
			lie(s, SLOT_WORD(place, begin), 0xffffffff);
			lie(s, SLOT_WORD(place, end), 0xffffffff);
		}
	}
}

UNIT_SUITE(extremes) = {
	{ "extremes: an index that is used is corrupt", test_used_indices },
	{ "extremes: no word makes a call hang", test_every_word },
	{ 0 }
};
