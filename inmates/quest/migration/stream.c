// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../drivers/bell.h"
#include "../drivers/channel.h"
#include "../user/include/quest/errors.h"
#include "stream.h"

static const int errors[] = QUEST_CHANNEL_ERRORS;

/* Records why the call failed, if it did. */
static bool conclude(struct mig_stream *s, int result)
{
	if (result)
		s->error = errors[-result];
	return !result;
}

/* Copies the header of the item. If the item is no message, the copy is one of no kind. */
static void take_header(struct mig_stream *s, uint64_t bytes)
{
	struct mig_message *m = &s->message;

	memset(m, 0, sizeof(*m));
	if (bytes < sizeof(*m))
		return;
	memcpy(m, s->slot, sizeof(*m));
	if (m->bytes > bytes - sizeof(*m))
		memset(m, 0, sizeof(*m));
}

bool mig_receive(struct mig_stream *s, uint64_t until)
{
	struct qv_item item;
	const void *data;
	uint64_t seen;
	int result;

	s->slot = NULL;
	do {
		seen = bell_count(s->n);
		qv_end_arm(s->end, true);
		result = qv_end_peek(s->end, &data, &item);
	} while (result == QV_CHAN_NOTHING && bell_wait(s->n, seen, until));
	qv_end_arm(s->end, false);
	if (result == QV_CHAN_NOTHING) {
		s->error = ETIMEDOUT;
		return false;
	}
	if (result)
		return conclude(s, result);
	s->slot = (unsigned char *)data;
	s->at = sizeof(s->message);
	take_header(s, item.bytes);
	return true;
}

bool mig_release(struct mig_stream *s)
{
	s->slot = NULL;
	return conclude(s, qv_end_release(s->end));
}

bool mig_claim(struct mig_stream *s)
{
	void *room;

	s->slot = NULL;			/* an earlier claim is void if the other end restarted */
	if (!conclude(s, qv_end_claim(s->end, &room)))
		return false;
	s->slot = room;
	s->at = sizeof(struct mig_message);
	return true;
}

size_t mig_room(const struct mig_stream *s)
{
	return s->end->page.item - s->at;
}

bool mig_commit(struct mig_stream *s, const struct mig_message *header)
{
	memcpy(s->slot, header, sizeof(*header));
	s->slot = NULL;
	return conclude(s, qv_end_commit(s->end, sizeof(*header) + header->bytes));
}

void mig_ring(struct mig_stream *s)
{
	channel_ring_after(s->end, s->n);
}
