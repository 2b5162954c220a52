// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Channels: lib/channel does the work, and the kernel maps the channel and lets threads wait. */
#include <channel.h>
#include "raw.h"

#define US_PER_S	1000000
#define LOOK_US		10000	/* between two looks whether the other end has attached */

static struct {
	struct qv_end end;
	int open;
	int reset;		/* channel_wait() found that the other end restarted */
	int alone;		/* the first end of a mailbox: the other has not attached yet */
	uint32_t bells;		/* how often the bell had rung when channel_wait() looked last */
} channels[CHANNELS_MAX];

static const int errors[] = QUEST_CHANNEL_ERRORS;

struct qv_end *channel_end(int channel)
{
	return channel >= 0 && channel < CHANNELS_MAX && channels[channel].open ?
	       &channels[channel].end : NULL;
}

/* The kernel has attached channel `n`, or returned minus an error. */
static int begin(int n, const struct quest_channel *to)
{
	int result;

	if (n < 0)
		return n;
	result = qv_end_attach(&channels[n].end, (void *)to->at, to->length, (uint32_t)to->end);
	if (result) {
		(void)quest_channel_detach(n);
		return -errors[-result];
	}
	channels[n].open = 1;
	channels[n].reset = 0;
	channels[n].bells = 0;
	return n;
}

int channel_open(const char *name)
{
	struct quest_channel to;
	int n = quest_channel_attach(name, &to);

	return begin(n, &to);
}

int channel_open_key(const struct quest_key *key)
{
	struct quest_channel to;
	int n = quest_channel_open_key(key, &to);

	return begin(n, &to);
}

int channel_close(int channel)
{
	if (!channel_end(channel))
		return -EBADF;
	channels[channel].open = 0;
	return quest_channel_detach(channel);
}

int channel_reset_before(int channel)
{
	int reset = channels[channel].reset;

	channels[channel].reset = 0;
	return reset;
}

/* Rings the other ends if they want it. */
static int ring_after(int channel, struct qv_end *end)
{
	return qv_end_rings(end) ? quest_channel_ring(channel) : 0;
}

int channel_read(int channel, void *to, size_t size)
{
	struct qv_end *end = channel_end(channel);
	struct qv_item item;
	int result;

	if (!end)
		return -EBADF;
	if (channel_reset_before(channel))
		return -ECONNRESET;
	result = qv_end_read(end, to, size, &item);
	if (result)
		return -errors[-result];
	if (end->page.type == QV_CHAN_RING)
		(void)ring_after(channel, end);	/* its writer may wait for this slot */
	return (int)item.bytes;
}

int channel_write(int channel, const void *from, size_t size)
{
	struct qv_end *end = channel_end(channel);
	int result;

	if (!end)
		return -EBADF;
	if (channel_reset_before(channel))
		return -ECONNRESET;
	result = qv_end_write(end, from, size);
	return result ? -errors[-result] : ring_after(channel, end);
}

int channel_ring(int channel)
{
	struct qv_end *end = channel_end(channel);

	if (!end)
		return -EBADF;
	return end->page.flags & QV_CHAN_BELL ? quest_channel_ring(channel) : 0;
}

/* A peek that is not kept: the item stays. */
static int look_for_item(struct qv_end *end)
{
	struct qv_item item;
	const void *data;
	int result = qv_end_peek(end, &data, &item);

	end->peeked = false;
	return result;
}

/* Of a mailbox, the end whose turn it is finds a message; the first message needs no other. */
static int look_for_turn(struct qv_end *end)
{
	int result = look_for_item(end);
	void *room;

	if (result != QV_CHAN_NOTHING)
		return result;
	result = qv_end_claim(end, &room);
	if (!result)
		(void)qv_end_abort(end);
	return result;
}

/* Returns whether there is nothing to wait for. */
static int ready(int channel)
{
	struct qv_end *end = &channels[channel].end;
	int result;

	if (channels[channel].reset || end->claimed || end->peeked)
		return 1;
	if (end->page.type == QV_CHAN_MAILBOX)
		result = look_for_turn(end);
	else
		result = end->self ? look_for_item(end) :
			 qv_end_full(end) ? QV_CHAN_FULL : QV_CHAN_DONE;
	channels[channel].reset = result == QV_CHAN_RESTARTED;
	channels[channel].alone = result == QV_CHAN_ABSENT && !end->self &&
				  end->page.type == QV_CHAN_MAILBOX;
	return result != QV_CHAN_NOTHING && result != QV_CHAN_FULL && result != QV_CHAN_ABSENT &&
	       result != QV_CHAN_LAPPED;
}

static struct timespec time_after(long us)
{
	struct timespec t;

	(void)quest_clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += us % US_PER_S * 1000;
	t.tv_sec += us / US_PER_S + t.tv_nsec / (US_PER_S * 1000l);
	t.tv_nsec %= US_PER_S * 1000l;
	return t;
}

static int is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/*
 * Sleeps until a bell. The other end rings when it has written, which in a mailbox it does only
 * after the first end has; no bell says that it has attached. So the first end looks for that.
 */
static int sleep_until(int channel, const struct timespec *until)
{
	struct timespec look = time_after(LOOK_US);
	int told, looks = channels[channel].alone && (!until || is_before(&look, until));

	told = quest_channel_sleep(channel, channels[channel].bells, looks ? &look : until);
	return looks && told == -ETIMEDOUT ? (int)channels[channel].bells : told;
}

/*
 * The count of the bell is older than each look, so a bell that rings after the look ends the sleep
 * at once. The look before a sleep is with an armed bell.
 */
int channel_wait(int channel, long us)
{
	struct timespec until = { 0, 0 };
	struct qv_end *end = channel_end(channel);
	int told;

	if (!end)
		return -EBADF;
	if (channels[channel].end.page.type == QV_CHAN_MEMORY)
		return -EACCES;
	if (us >= 0)
		until = time_after(us);
	qv_end_will_arm(end, true);
	while (!ready(channel)) {
		qv_end_arm(end, true);
		if (ready(channel))
			break;
		told = sleep_until(channel, us < 0 ? NULL : &until);
		if (told == -ETIMEDOUT && ready(channel))
			return 0;
		if (told < 0)
			return told;
		channels[channel].bells = (uint32_t)told;
	}
	return 0;
}
