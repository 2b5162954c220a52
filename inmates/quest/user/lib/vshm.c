// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <channel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vshm.h>

#define NAME_BYTES	16
#define FULL_OR_EMPTY	(-1)
#define BROKEN		(-2)

static struct {
	const char *const *names;
	unsigned int count;
} named;

void vshm_sandboxes(const char *const *names, unsigned int count)
{
	named.names = names;
	named.count = count < VSHM_SANDBOXES ? count : VSHM_SANDBOXES;
}

/* Opens the key with the first of the sandboxes that is not this cell: for that it is malformed. */
static int open_with(struct quest_key *wish, unsigned int sandboxes)
{
	int channel = -ENODEV;
	unsigned int i;

	for (i = 0; i < named.count && (channel == -ENODEV || channel == -EINVAL); i++) {
		if (!(sandboxes >> i & 1))
			continue;
		if (strlen(named.names[i]) >= sizeof(wish->peer))
			return -ENAMETOOLONG;
		(void)strcpy(wish->peer, named.names[i]);
		channel = channel_open_key(wish);
	}
	return channel;
}

/* Opens the channel of a key, of that type. Returns its number or minus an error. */
static int open_key(struct quest_key *wish, unsigned int sandboxes)
{
	char name[NAME_BYTES];
	int channel;

	(void)snprintf(name, sizeof(name), "vshm-%u", wish->key);
	channel = channel_open(name);
	if (channel == -ENODEV)
		return open_with(wish, sandboxes);
	if (channel < 0 || channel_end(channel)->page.type == wish->type)
		return channel;
	(void)channel_close(channel);
	return -EACCES;
}

/* The bytes of an item of a channel that has room for so many */
static uint64_t rounded(uint64_t bytes)
{
	return bytes < QV_CHAN_MIN_ITEM ? QV_CHAN_MIN_ITEM :
	       (bytes + QV_CHAN_MIN_ITEM - 1) & ~(uint64_t)(QV_CHAN_MIN_ITEM - 1);
}

static int closed(int channel, int error)
{
	(void)channel_close(channel);
	return error;
}

int vshm_map(unsigned int vshm_key, unsigned int size, unsigned int sandboxes, unsigned int flags,
	     void **addr)
{
	struct quest_key wish = {
		.key = vshm_key, .writes = !!(flags & VSHM_CREATE), .type = QV_CHAN_MEMORY,
		.item = rounded(size), .slots = 1, .shared = 1,
	};
	uint64_t bytes;
	bool writable;
	int channel;

	if (!(flags & (VSHM_READ_ACCESS | VSHM_WRITE_ACCESS)))
		return -EINVAL;
	channel = open_key(&wish, sandboxes);
	if (channel < 0)
		return channel;
	(void)qv_end_memory(channel_end(channel), addr, &bytes, &writable);
	if (flags & VSHM_WRITE_ACCESS && !writable)
		return closed(channel, -EACCES);
	return size > bytes ? closed(channel, -EMSGSIZE) : 0;
}

static int make(struct vshm_channel *v, struct quest_key *wish, unsigned int sandboxes,
		size_t element_size, size_t slots)
{
	const struct qv_chan_page *page;

	v->element_size = element_size;
	wish->item = rounded(element_size);
	for (wish->slots = 1; wish->slots < slots && wish->slots <= QV_CHAN_MAX_LENGTH;)
		wish->slots *= 2;
	v->channel = open_key(wish, sandboxes);
	if (v->channel < 0)
		return v->channel;
	page = &channel_end(v->channel)->page;
	if (element_size > page->item || page->item - element_size >= QV_CHAN_MIN_ITEM ||
	    slots > page->slots)
		return closed(v->channel, -EMSGSIZE);
	v->item = calloc(1, page->item);
	return v->item ? 0 : closed(v->channel, -ENOMEM);
}

int mk_vshm_async_channel(vshm_async_channel_t *vac, unsigned int vshm_key, size_t element_size,
			  unsigned int sandboxes, unsigned int flags)
{
	struct quest_key wish = {
		.key = vshm_key, .writes = !!(flags & VSHM_CREATE), .type = QV_CHAN_FOUR_SLOT,
	};

	return make(vac, &wish, sandboxes, element_size, 1);
}

/* Calls again after QV_CHAN_RESTARTED: that call is for the new life of the other end. */
static int put(struct vshm_channel *v, const void *item)
{
	struct qv_end *end = channel_end(v->channel);
	int result;

	if (!end)
		return QV_CHAN_USAGE;
	memcpy(v->item, item, v->element_size);
	result = qv_end_write(end, v->item, end->page.item);
	return result == QV_CHAN_RESTARTED ? qv_end_write(end, v->item, end->page.item) : result;
}

/* The same for a read: `read` is one of the calls of qv/end.h. Copies the element on success. */
static int get(struct vshm_channel *v, void *item,
	       int (*read)(struct qv_end *, void *, uint64_t, struct qv_item *))
{
	struct qv_end *end = channel_end(v->channel);
	struct qv_item about;
	int result;

	if (!end)
		return QV_CHAN_USAGE;
	result = read(end, v->item, end->page.item, &about);
	if (result == QV_CHAN_RESTARTED)
		result = read(end, v->item, end->page.item, &about);
	if (!result)
		memcpy(item, v->item, v->element_size);
	return result;
}

void vshm_async_channel_write(vshm_async_channel_t *vac, void *item)
{
	(void)put(vac, item);
}

void vshm_async_channel_read(vshm_async_channel_t *vac, void *item)
{
	if (get(vac, item, qv_end_read_again))
		memset(item, 0, vac->element_size);
}

int mk_vshm_circular_buffer(vshm_circular_buffer_t *vcb, unsigned int vshm_key, size_t buffer_size,
			    size_t element_size, unsigned int sandboxes, unsigned int flags)
{
	struct quest_key wish = {
		.key = vshm_key, .writes = !!(flags & VSHM_CREATE), .type = QV_CHAN_RING,
		.full = QV_CHAN_FULL_ERROR,
	};

	return make(vcb, &wish, sandboxes, element_size, buffer_size);
}

/* The result that users of Quest-V know. An end that is gone leaves its queue as it was. */
static int answer(int result)
{
	switch (result) {
	case QV_CHAN_DONE:
		return 0;
	case QV_CHAN_CORRUPT:
	case QV_CHAN_RESTARTED:
	case QV_CHAN_USAGE:
		return BROKEN;
	default:
		return FULL_OR_EMPTY;
	}
}

int vshm_circular_buffer_insert(vshm_circular_buffer_t *vcb, void *item)
{
	return answer(put(vcb, item));
}

int vshm_circular_buffer_remove(vshm_circular_buffer_t *vcb, void *item)
{
	return answer(get(vcb, item, qv_end_read));
}
