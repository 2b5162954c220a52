// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "share.h"

#define HEAD	offsetof(struct share_item, frame)
#define LOCAL	2		/* bit of the first byte: an address that no manufacturer gives */

_Static_assert(sizeof(struct share_item) % 8 == 0, "items have multiples of 8 bytes");

bool share_fits(const struct qv_end *end)
{
	return end->page.type == QV_CHAN_RING && end->page.item == sizeof(struct share_item);
}

bool share_put(struct qv_end *end, const struct share_item *head, const volatile uint8_t *frame,
	       size_t length, struct share_counts *counts)
{
	struct share_item *item;
	void *room;

	if (length > NIC_FRAME_MAX || qv_end_claim(end, &room)) {
		counts->full++;
		return false;
	}
	item = room;
	memcpy(item, head, HEAD);
	item->length = (uint16_t)length;
	if (length)
		memcpy(item->frame, (const void *)frame, length);
	if (qv_end_commit(end, sizeof(*item))) {
		counts->full++;
		return false;
	}
	counts->sent += length > 0;
	return true;
}

enum share_result share_take(struct qv_end *end, struct share_item *copy,
			     struct share_counts *counts)
{
	struct qv_item item;
	const void *data;

	if (qv_end_peek(end, &data, &item))
		return SHARE_NONE;
	memcpy(copy, data, HEAD);
	__asm__ volatile("" : : : "memory");	/* the length is checked as it was copied */
	if (copy->length <= NIC_FRAME_MAX)
		memcpy(copy->frame, (const uint8_t *)data + HEAD, copy->length);
	if (qv_end_release(end))
		return SHARE_NONE;
	counts->lost += item.lost;
	if (copy->length > NIC_FRAME_MAX || (copy->length && copy->length < NIC_FRAME_MIN)) {
		counts->bad++;
		return SHARE_BAD;
	}
	counts->frames += copy->length > 0;
	return SHARE_TAKEN;
}

void share_address(const uint8_t function[NIC_ADDRESS], unsigned int n,
		   uint8_t address[NIC_ADDRESS])
{
	memcpy(address, function, NIC_ADDRESS);
	address[0] = (uint8_t)((address[0] | LOCAL) ^ (n + 1) << 4);
}
