// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Sizes and places of sections. Every product and sum below is far from an overflow of 64 bits. */
#include <stddef.h>
#include "internal.h"

_Static_assert(sizeof(struct qv_chan_section) == QV_CHAN_DATA, "slots begin after the head");
_Static_assert(sizeof(struct qv_chan_end) == 64, "a cache line");
_Static_assert(sizeof(struct qv_chan_page) == 832, "part of the contract");
_Static_assert(sizeof(struct qv_chan_page) <= QV_CHAN_PAGE, "one page");

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + QV_CHAN_PAGE - 1) & ~(uint64_t)(QV_CHAN_PAGE - 1);
}

/* Checks the words that come from a file. */
static const char *params_wrong(const struct qv_chan_page *page)
{
	bool ring = page->type == QV_CHAN_RING, two = ring || page->type == QV_CHAN_MAILBOX;

	if (page->type < QV_CHAN_MAILBOX || page->type > QV_CHAN_MEMORY)
		return "the type is not mailbox, four-slot, ring or memory";
	if (page->item < QV_CHAN_MIN_ITEM || page->item > QV_CHAN_MAX_LENGTH || page->item % 8)
		return "an item must have 8 bytes to 16 MiB, in multiples of 8";
	if (page->ends < 2 || page->ends > QV_CHAN_MAX_ENDS)
		return "a channel has one writer, and 1 to 8 readers";
	if (two && page->ends != 2)
		return "a mailbox or ring has two ends";
	if (ring ? !page->slots || page->slots & (page->slots - 1) ||
		   page->slots > QV_CHAN_MAX_LENGTH
		 : page->slots != 1)
		return "only a ring has slots, and their number is a power of two";
	if (ring ? page->full < QV_CHAN_FULL_ERROR || page->full > QV_CHAN_DROP_OLDEST : page->full)
		return "a ring, and no other type, says what happens when it is full";
	if (page->flags & ~(QV_CHAN_BELL | QV_CHAN_RECONNECT | QV_CHAN_ONE_SHOT))
		return "a flag is not known";
	if (page->flags & QV_CHAN_ONE_SHOT &&
	    (!(page->flags & QV_CHAN_BELL) || page->type == QV_CHAN_MEMORY))
		return "one-shot bells need bells and items";
	return NULL;
}

/* Returns the bytes that the section of an end needs. */
static uint64_t section_bytes(const struct qv_chan_page *page, uint32_t which)
{
	uint64_t stride = QV_CHAN_STRIDE(page->item);

	switch (page->type) {
	case QV_CHAN_MEMORY:
		return which ? 0 : page->item;
	case QV_CHAN_MAILBOX:
		return QV_CHAN_DATA + stride;
	case QV_CHAN_FOUR_SLOT:
		return QV_CHAN_DATA + (which ? 0 : 2 * page->ends * stride);
	default:
		return QV_CHAN_DATA + (which ? 0 : page->slots * stride);
	}
}

const char *qv_chan_lay_out(struct qv_chan_page *page)
{
	const char *wrong = params_wrong(page);
	uint64_t at = QV_CHAN_PAGE;
	uint32_t i;

	if (wrong)
		return wrong;
	for (i = 0; i < page->ends; i++) {
		page->end[i].size = whole_pages(section_bytes(page, i));
		page->end[i].offset = page->end[i].size ? at : 0;
		at += page->end[i].size;
	}
	if (at > QV_CHAN_MAX_LENGTH)
		return "the channel is longer than 16 MiB";
	page->magic = QV_CHAN_MAGIC;
	page->version = QV_CHAN_VERSION;
	page->size = sizeof(*page);
	page->length = at;
	return NULL;
}

static bool sections_overlap(const struct qv_chan_end *a, const struct qv_chan_end *b)
{
	return a->size && b->size && a->offset < b->offset + b->size &&
	       b->offset < a->offset + a->size;
}

const char *qv_chan_check(const struct qv_chan_page *page, uint64_t length)
{
	const char *wrong;
	uint32_t i, k;

	if (page->magic != QV_CHAN_MAGIC)
		return "there is no channel";
	if (page->version < QV_CHAN_VERSION || page->size < sizeof(*page) ||
	    page->size > QV_CHAN_PAGE)
		return "the format has an unknown version";
	wrong = params_wrong(page);
	if (wrong)
		return wrong;
	if (!page->session || page->length > length || page->length > QV_CHAN_MAX_LENGTH)
		return "the life page is malformed";
	if (page->name[QV_CHAN_NAME_LEN - 1] || page->schema[QV_CHAN_SCHEMA_LEN - 1])
		return "the name or schema does not end";
	for (i = 0; i < page->ends; i++) {
		const struct qv_chan_end *end = &page->end[i];

		if (end->name[QV_CHAN_NAME_LEN - 1])
			return "the name of an end does not end";
		if (end->size < section_bytes(page, i) || end->size % QV_CHAN_PAGE ||
		    end->size > page->length)
			return "a section is too small or too large";
		if (end->size ? end->offset < QV_CHAN_PAGE || end->offset % QV_CHAN_PAGE ||
				end->offset > page->length - end->size
			      : end->offset != 0)
			return "a section is not inside the channel";
		for (k = 0; k < i; k++)
			if (sections_overlap(end, &page->end[k]))
				return "two sections overlap";
	}
	return NULL;
}
