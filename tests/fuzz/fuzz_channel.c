// SPDX-License-Identifier: GPL-2.0-only
/*
 * One end of a channel against any peer: the input decides the value of each word that the peer
 * writes, at each load. The end must load from the channel only, write to its own section only, and
 * come to an end. Its manager may restart both at any time.
 */
#include <stdlib.h>
#include <string.h>
#include <qv/end.h>
#include "choices.h"
#include "fuzz.h"
#include "unit.h"
#include "../../lib/linux/manage.h"

#define LOADS	4000	/* of one call at most; a read copies at most 4 items of 32 words */

void shared_store(uint64_t *word, uint64_t value);
void shared_store_fenced(uint64_t *word, uint64_t value);
uint64_t shared_load(const uint64_t *word);

static struct choices input;
static struct qv_chan_page plan;
static unsigned char *window;
static uint32_t self, loads;

/* Returns the end that may write a word, or -1 for the life page. */
static int owner(const void *word)
{
	uint64_t at = (const unsigned char *)word - window;
	uint32_t i;

	CHECK((uintptr_t)word % 8 == 0 && at < plan.length);
	for (i = 0; i < plan.ends; i++)
		if (at - plan.end[i].offset < plan.end[i].size)
			return (int)i;
	CHECK(at < sizeof(plan));
	return -1;
}

uint64_t shared_load(const uint64_t *word)
{
	int whose = owner(word);

	CHECK(++loads < LOADS);
	if (whose >= 0 && whose != (int)self) {
		switch (choose(&input, 6)) {
		case 1: return choose(&input, 8);
		case 2: return choose(&input, ~0ull);
		case 3: return *word + choose(&input, 8) - 4;
		}
	}
	return *word;
}

void shared_store(uint64_t *word, uint64_t value)
{
	CHECK(owner(word) == (int)self);
	*word = value;
}

void shared_store_fenced(uint64_t *word, uint64_t value)
{
	shared_store(word, value);
}

/* Starts an end and attaches it. Without this, no input would get past the check of generations. */
static void start_peer(uint32_t end)
{
	const struct qv_chan_page *page = (const struct qv_chan_page *)window;
	struct qv_chan_section *section = (struct qv_chan_section *)(window + plan.end[end].offset);

	manage_start(window, end);
	if (plan.type == QV_CHAN_MEMORY)
		return;
	section->bound = QV_CHAN_GENERATION(page->end[self].life);
	section->generation = QV_CHAN_GENERATION(page->end[end].life);
}

/* Makes a channel that the input describes. Returns false if there can be no such channel. */
static bool make_channel(void)
{
	uint32_t i;

	plan = (struct qv_chan_page){
		.type = 1 + choose(&input, 4), .item = 8 * (1 + choose(&input, 32)),
		.slots = 1ull << choose(&input, 5), .ends = 2 + choose(&input, 8),
		.full = choose(&input, 5), .flags = choose(&input, 4), .name = "fuzz",
	};
	if (plan.type != QV_CHAN_RING)
		plan.slots = 1, plan.full = 0;
	if (plan.type == QV_CHAN_RING || plan.type == QV_CHAN_MAILBOX)
		plan.ends = 2;
	self = choose(&input, plan.ends);
	if (qv_chan_lay_out(&plan))
		return false;
	window = aligned_alloc(QV_CHAN_PAGE, plan.length);
	if (!window)
		abort();
	memset(window, 0, plan.length);
	manage_make(window, &plan, 0x1000);
	manage_start(window, self);
	for (i = 0; i < plan.ends; i++)
		if (i != self)
			start_peer(i);
	return true;
}

static void read_one(struct qv_end *end, uint64_t *last)
{
	unsigned char *data = malloc(plan.item);	/* exact, for the sanitizer */
	uint64_t size = choose(&input, 4) ? plan.item : choose(&input, plan.item);
	uint64_t generation = end->peer_generation;
	bool again = choose(&input, 4) == 1;
	struct qv_item about;
	int result;

	if (!data)
		abort();
	result = again ? qv_end_read_again(end, data, size, &about) :
			 qv_end_read(end, data, size, &about);
	CHECK(result <= 0 && result >= QV_CHAN_OWN_SECTION);
	if (!result) {
		CHECK(about.bytes <= plan.item && size == plan.item && about.number);
		if (generation == end->peer_generation && !again)
			CHECK(about.number > *last);
		*last = again ? *last : about.number;
	}
	free(data);
}

static void read_batch(struct qv_end *end, uint64_t *last)
{
	uint32_t n = choose(&input, 2 * 16), i;
	uint64_t generation = end->peer_generation;
	int found = qv_end_peek_n(end, n), result;
	struct qv_item about;

	CHECK(found && found >= QV_CHAN_OWN_SECTION && found <= (int)plan.slots);
	for (i = 0; found > 0 && i < (uint32_t)found; i++)
		CHECK(((const char *)qv_end_peeked(end, i, &about))[plan.item - 1] || 1);
	CHECK(found < 0 || !qv_end_peeked(end, (uint32_t)found, &about));
	if (found < 0 || choose(&input, 4) == 1)
		return;			/* other calls follow, with this batch */
	result = qv_end_release_n(end, choose(&input, 4) ? (uint32_t)found :
				       choose(&input, 2 * 16));
	CHECK(result <= 0 && result >= QV_CHAN_OWN_SECTION);
	if (!result && generation == end->peer_generation)
		CHECK(end->last > *last);
	*last = result ? *last : end->last;
}

static void write_batch(struct qv_end *end)
{
	int room = qv_end_claim_n(end, choose(&input, 2 * 16)), i;

	CHECK(room && room >= QV_CHAN_OWN_SECTION && room <= (int)plan.slots);
	for (i = 0; i < room; i++)
		memset(qv_end_claimed(end, (uint32_t)i), 0x55, plan.item);
	if (choose(&input, 4))
		qv_end_commit_n(end, choose(&input, 2) ? (uint32_t)room : choose(&input, 2 * 16));
}

static void step(struct qv_end *end, uint64_t *last)
{
	unsigned char item[8 * 32] = { 1, 2, 3 };
	struct qv_end_status status;
	struct qv_item about;
	const void *there;
	void *room;

	loads = 0;
	switch (choose(&input, 13)) {
	case 0: case 1: return read_one(end, last);
	case 2: qv_end_write(end, item, plan.item); break;
	case 3: qv_end_write(end, item, choose(&input, 8 * 32)); break;
	case 4: if (!qv_end_claim(end, &room)) memset(room, 0x55, plan.item); break;
	case 5: qv_end_commit(end, plan.item); break;
	case 6: qv_end_abort(end); break;
	case 7: if (!qv_end_peek(end, &there, &about)) CHECK(about.bytes <= plan.item); break;
	case 8: qv_end_release(end); break;
	case 9: qv_end_status(end, &status); break;
	case 10: return read_batch(end, last);
	case 11: return write_batch(end);
	default:
		if (choose(&input, 2))
			manage_state(window, !self, choose(&input, 4));
		else if (choose(&input, 2))
			manage_start(window, !self);
		else
			start_peer(!self);
		*last = 0;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct qv_end end;
	uint64_t last = 0;

	input = (struct choices){ data, len };
	if (!make_channel())
		return 0;
	loads = 0;
	if (!qv_end_attach(&end, window, plan.length, self))
		while (choices_left(&input))
			step(&end, &last);
	free(window);
	return 0;
}
