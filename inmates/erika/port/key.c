// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Channels at run time. A call posts a request, or asks for the answer, and never waits: a task
 * that waited would keep all tasks of lower priority from running. Functions for applications are
 * weak.
 */
#include <inmate/cell.h>
#include <inmate/string.h>
#include "erika/channel.h"
#include "x86.h"

static struct {
	uint64_t address;		/* 0: the window has no channel */
	const ChannelType *channel;	/* that was opened there, or whose close was posted last */
} windows[QV_INFO_MAX_CHANNELS];
/*
 * The request. The task that sets `channel` has claimed it, and other tasks change nothing until it
 * is NULL again.
 */
static struct {
	const ChannelType *channel;	/* to be opened or closed; NULL: there is no request */
	uint32_t call;			/* QV_CALL_OPEN or QV_CALL_CLOSE; 0: not posted yet */
	uint32_t window;		/* that it closes */
} request;

/* A channel that is being closed, or that could not be attached, has no address any longer. */
int key_window(const ChannelType *channel)
{
	int n;

	for (n = 0; n < QV_INFO_MAX_CHANNELS; n++)
		if (windows[n].address &&
		    (channel->window ? windows[n].address == (uintptr_t)channel->window :
				       windows[n].channel == channel))
			return n;
	return -1;
}

/* One instruction decides, so a task that preempts this one at any place gets `false`. */
static bool claim(const ChannelType *channel)
{
	const ChannelType *none = NULL;

	return __atomic_compare_exchange_n(&request.channel, &none, channel, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* After all changes of `windows` and `request`: from here on another task may claim it. */
static void release(void)
{
	request.call = 0;
	__atomic_store_n(&request.channel, NULL, __ATOMIC_SEQ_CST);
}

static bool is_posted(const ChannelType *channel, uint32_t call)
{
	return __atomic_load_n(&request.channel, __ATOMIC_SEQ_CST) == channel &&
	       request.call == call;
}

/* Posts the claimed request, or releases it. */
static int post(uint32_t call, uint64_t a, uint64_t b)
{
	int result = cell_key_post(call, a, b);

	if (!result)
		request.call = call;
	else
		release();
	return result == QV_KEY_RATE || result == QV_KEY_BUSY ? QV_KEY_PENDING : result;
}

/* Asks for the answer to the posted request, and records what it changes. Returns the answer. */
static int settle(void)
{
	uint64_t address = 0;
	int n = cell_key_answer(&address);

	if (n == QV_KEY_PENDING)
		return n;
	if (request.call == QV_CALL_CLOSE && n != QV_KEY_STUCK)
		windows[request.window].address = 0;
	if (request.call == QV_CALL_OPEN && n >= 0 && n < QV_INFO_MAX_CHANNELS) {
		windows[n].channel = request.channel;
		windows[n].address = address;
	}
	release();
	return n;
}

static int ask_open(ChannelType *channel, const ChannelKeyType *key)
{
	static struct qv_chan_page page __attribute__((aligned(64)));
	const char *own = cell_info()->name;

	channel->window = NULL;		/* a close before the attach looks at it */
	memset(&page, 0, sizeof(page));
	page.type = key->type;
	page.full = key->full;
	page.flags = key->flags;
	page.item = key->item;
	page.slots = key->slots ? key->slots : 1;
	if (qv_chan_describe_key(&page, key->key, key->writes ? own : key->peer,
				 key->writes ? key->peer : own)) {
		release();
		return QV_KEY_MALFORMED;
	}
	return post(QV_CALL_OPEN, (uintptr_t)&page, QV_KEY_END(!key->writes, key->vector, 0));
}

__attribute__((weak)) int channel_open_key(ChannelType *channel, const ChannelKeyType *key)
{
	int n = QV_KEY_PENDING, closed = 0;

	if (!cell_present())
		return QV_KEY_DENIED;
	if (is_posted(channel, QV_CALL_CLOSE))
		closed = settle();
	if (closed == QV_KEY_PENDING || closed == QV_KEY_STUCK)
		return closed;
	if (claim(channel))
		n = ask_open(channel, key);
	if (is_posted(channel, QV_CALL_OPEN))
		n = settle();
	if (n < 0 || n >= QV_INFO_MAX_CHANNELS)
		return n;
	return qv_end_attach(channel, (void *)(uintptr_t)windows[n].address, QV_KEY_LEN,
			     !key->writes) ? QV_KEY_MALFORMED : 0;
}

/* From the request on, an access to the channel may stop the cell. */
static int ask_close(ChannelType *channel)
{
	int n = key_window(channel);

	if (n < 0) {
		release();
		return QV_KEY_NONE;
	}
	request.window = (uint32_t)n;
	windows[n].channel = channel;
	channel->window = NULL;
	return post(QV_CALL_CLOSE, (uint32_t)n, 0);
}

__attribute__((weak)) int channel_close_key(ChannelType *channel)
{
	int n = QV_KEY_PENDING;

	if (is_posted(channel, QV_CALL_OPEN) && settle() == QV_KEY_PENDING)
		return QV_KEY_PENDING;
	if (claim(channel))
		n = ask_close(channel);
	if (is_posted(channel, QV_CALL_CLOSE))
		n = settle();
	return n < 0 ? n : 0;
}

__attribute__((weak)) const char *channel_key_sentence(int result)
{
	return cell_key_sentence(result);
}
