// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Reads the last value of a four-slot channel. It needs qv/channel.h and a C11 compiler only. */
#include <stddef.h>
#include <stdint.h>
#include <qv/channel.h>

#define LOAD(word)		__atomic_load_n(&(word), __ATOMIC_SEQ_CST)
#define STORE(word, value)	__atomic_store_n(&(word), (value), __ATOMIC_RELEASE)
#define STORE_FENCED(word, value) (void)__atomic_exchange_n(&(word), (value), __ATOMIC_SEQ_CST)

struct last_value {
	unsigned char *window;
	struct qv_chan_end own, writer;	/* copies: the life page is read once */
	uint64_t words, pairs;		/* of an item, of the channel */
};

int last_value_open(struct last_value *c, void *window, uint64_t length, uint32_t self);
int64_t last_value_read(struct last_value *c, uint64_t *item);

static int fits(const struct qv_chan_end *end, uint64_t bytes, uint64_t length)
{
	return end->offset >= QV_CHAN_PAGE && end->offset % QV_CHAN_PAGE == 0 &&
	       end->size >= bytes && end->size <= length && end->offset <= length - end->size;
}

/* Attaches as reader `self` (1 to 8). Returns 0, or -1 if this is no four-slot that it can read. */
int last_value_open(struct last_value *c, void *window, uint64_t length, uint32_t self)
{
	struct qv_chan_page page = *(const struct qv_chan_page *)window;
	struct qv_chan_section *own;
	uint64_t generation;

	if (page.magic != QV_CHAN_MAGIC || page.version < QV_CHAN_VERSION ||
	    page.type != QV_CHAN_FOUR_SLOT || page.item < QV_CHAN_MIN_ITEM || page.item % 8 ||
	    page.item > length || page.ends > QV_CHAN_MAX_ENDS || self < 1 || self >= page.ends)
		return -1;
	c->window = window;
	c->own = page.end[self];
	c->writer = page.end[0];
	c->words = page.item / 8;
	c->pairs = page.ends;
	if (!fits(&c->own, QV_CHAN_DATA, length) ||
	    !fits(&c->writer, QV_CHAN_DATA + 2 * c->pairs * QV_CHAN_STRIDE(page.item), length))
		return -1;
	own = (struct qv_chan_section *)(c->window + c->own.offset);
	generation = QV_CHAN_GENERATION(c->own.life);
	if (!generation || (LOAD(own->generation) && LOAD(own->generation) != generation))
		return -1;
	STORE(own->generation, generation);
	return 0;
}

/* Copies the last item. Returns its number, 0 if no item is there, -1 if the writer is corrupt. */
int64_t last_value_read(struct last_value *c, uint64_t *item)
{
	const struct qv_chan_page *page = (const struct qv_chan_page *)c->window;
	struct qv_chan_section *own = (struct qv_chan_section *)(c->window + c->own.offset);
	struct qv_chan_section *from = (struct qv_chan_section *)(c->window + c->writer.offset);
	uint64_t life = LOAD(page->end[0].life), pair, slot, number, i;
	struct qv_chan_slot *there;
	const uint64_t *word;

	if (!QV_CHAN_GENERATION(life) || LOAD(from->generation) != QV_CHAN_GENERATION(life))
		return 0;			/* the writer has not attached */
	pair = LOAD(from->count);
	if (pair >= c->pairs)
		return -1;
	STORE_FENCED(own->count, pair);		/* from now on the writer leaves this pair alone */
	slot = LOAD(from->slot[pair]);
	if (slot > 1)
		return -1;
	there = (struct qv_chan_slot *)((unsigned char *)from + QV_CHAN_DATA +
					(2 * pair + slot) * QV_CHAN_STRIDE(8 * c->words));
	number = LOAD(there->end);
	word = (const uint64_t *)(there + 1);
	for (i = 0; i < c->words; i++)
		item[i] = LOAD(word[i]);
	if (QV_CHAN_GENERATION(LOAD(page->end[0].life)) != QV_CHAN_GENERATION(life))
		return 0;			/* the writer restarted meanwhile */
	return LOAD(there->begin) == number ? (int64_t)number : -1;
}
