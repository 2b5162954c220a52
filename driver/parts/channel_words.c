// SPDX-License-Identifier: GPL-2.0-only
/* The description of a channel in the words of a cell's file. */
#include <linux/string.h>
#include "qv.h"
#include "parts/channels.h"

static const char *const words_types[] = { "", "mailbox", "four-slot", "ring", "memory" };
static const char *const words_full[] = {
	"none", "error", "block", "drop-newest", "drop-oldest",
};

const char *qv_channel_type(const struct qv_chan_page *page)
{
	return words_types[page->type];
}

const char *qv_channel_full(const struct qv_chan_page *page)
{
	return words_full[page->full];
}

const char *qv_channel_reconnect(const struct qv_chan_page *page)
{
	return page->flags & QV_CHAN_RECONNECT ? "auto" : "never";
}

const char *qv_channel_bell(const struct qv_chan_page *page)
{
	if (page->flags & QV_CHAN_ONE_SHOT)
		return "one-shot";
	return page->flags & QV_CHAN_BELL ? "true" : "false";
}

/* The end with that index, as a writer or reader. Ends that do not exist have no word */
static void words_end(char *to, size_t size, const struct qv_chan_page *page, u32 end)
{
	bool writes = !end || (end < page->ends && page->end[end].flags & QV_CHAN_END_WRITES);

	scnprintf(to, size, "%s: %s", writes ? "writer" : "reader",
		  end < page->ends ? page->end[end].name : "none");
}

enum { WORDS_TYPE, WORDS_ITEM, WORDS_SLOTS, WORDS_FULL, WORDS_RECONNECT, WORDS_BELL, WORDS_SCHEMA,
       WORDS_OWNER, WORDS_MODE, WORDS_ENDS, WORDS_NUM = WORDS_ENDS + QV_CHAN_MAX_ENDS };

/* Writes the word `which` of the file: "item: 64" */
static void words_one(char *to, size_t size, const struct qv_channel_view *c, u32 which)
{
	const struct qv_chan_page *page = c->page;

	switch (which) {
	case WORDS_TYPE:
		scnprintf(to, size, "type: %s", qv_channel_type(page));
		break;
	case WORDS_ITEM:
		scnprintf(to, size, "item: %llu", (u64)page->item);
		break;
	case WORDS_SLOTS:
		scnprintf(to, size, "slots: %llu", (u64)page->slots);
		break;
	case WORDS_FULL:
		scnprintf(to, size, "full: %s", qv_channel_full(page));
		break;
	case WORDS_RECONNECT:
		scnprintf(to, size, "reconnect: %s", qv_channel_reconnect(page));
		break;
	case WORDS_BELL:
		scnprintf(to, size, "bell: %s", qv_channel_bell(page));
		break;
	case WORDS_SCHEMA:
		scnprintf(to, size, "schema: %s", page->schema[0] ? page->schema : "none");
		break;
	case WORDS_OWNER:
		scnprintf(to, size, "owner: %u:%u", c->uid, c->gid);
		break;
	case WORDS_MODE:
		scnprintf(to, size, "mode: %04o", c->mode ?: QV_CHANNEL_MODE);
		break;
	default:
		words_end(to, size, page, which - WORDS_ENDS);
	}
}

bool qv_channel_differs(const struct qv_channel_view *a, const struct qv_channel_view *b,
			char word_a[QV_CHANNEL_WORD], char word_b[QV_CHANNEL_WORD])
{
	u32 which;

	for (which = 0; which < WORDS_NUM; which++) {
		words_one(word_a, QV_CHANNEL_WORD, a, which);
		words_one(word_b, QV_CHANNEL_WORD, b, which);
		if (strcmp(word_a, word_b))
			return true;
	}
	return false;
}
