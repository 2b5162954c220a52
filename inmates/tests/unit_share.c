// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames of a shared network function in the rings of channels: whole frames only, a laggard that
 * loses only the oldest ones, ends that die at any moment, and an end that writes anything.
 */
#include <stdlib.h>
#include <string.h>
#include "../../lib/linux/manage.h"
#include "../quest/net/share.h"
#include "unit.h"

#define SLOTS	16
#define WINDOW	(64 * 1024)
#define ROUNDS	20000

static _Alignas(4096) unsigned char window[WINDOW];
static struct qv_end writer, reader;
static struct share_counts put, taken;
static struct share_item head = { .link = 1, .address = { 2, 1, 1, 1, 1, 7 } }, copy;

static void attach(struct qv_end *end, uint32_t self)
{
	memset(end, 0, sizeof(*end));
	CHECK(!qv_end_attach(end, window, sizeof(window), self));
}

static void set_up(uint32_t full)
{
	struct qv_chan_page page = { .type = QV_CHAN_RING, .full = full, .ends = 2,
				     .flags = QV_CHAN_RECONNECT, .slots = SLOTS,
				     .item = sizeof(struct share_item) };

	strcpy(page.name, "lan-rx");
	strcpy(page.end[0].name, "owner");
	strcpy(page.end[1].name, "sharer");
	CHECK(!qv_chan_lay_out(&page));
	memset(window, 0, sizeof(window));
	manage_make(window, &page, 7 << 8);
	manage_start(window, 0);
	manage_start(window, 1);
	attach(&writer, 0);
	attach(&reader, 1);
	memset(&put, 0, sizeof(put));
	memset(&taken, 0, sizeof(taken));
}

/* The contents of a frame follow from its number and its length. */
static size_t make(uint8_t *frame, uint32_t number)
{
	size_t length = number * 37 % (NIC_FRAME_MAX - NIC_FRAME_MIN + 1), i;

	length += NIC_FRAME_MIN;
	for (i = 0; i < length; i++)
		frame[i] = (uint8_t)(number * 7 + i);
	memcpy(frame, &number, sizeof(number));
	return length;
}

static bool send(uint32_t number)
{
	uint8_t frame[NIC_FRAME_MAX];
	size_t length = make(frame, number);

	return share_put(&writer, &head, frame, length, &put);
}

static uint32_t check_copy(void)
{
	uint8_t frame[NIC_FRAME_MAX];
	uint32_t number;

	memcpy(&number, copy.frame, sizeof(number));
	CHECK_EQ(copy.length, make(frame, number));
	CHECK(!memcmp(copy.frame, frame, copy.length));
	CHECK(copy.link == 1 && !memcmp(copy.address, head.address, sizeof(head.address)));
	return number;
}

TEST(share_laggard_loses_the_oldest_only)
{
	uint32_t sent = 0, last = 0, number, i, burst;

	set_up(QV_CHAN_DROP_OLDEST);
	CHECK(share_fits(&reader));
	/* a ring tells its reader of gaps behind the first item that it has read */
	CHECK(send(++sent));
	CHECK_EQ(share_take(&reader, &copy, &taken), SHARE_TAKEN);
	srand(29);
	for (i = 0; i < ROUNDS; i++) {
		for (burst = (uint32_t)rand() % (2 * SLOTS); burst; burst--)
			CHECK(send(++sent));	/* a laggard never delays the writer */
		for (burst = (uint32_t)rand() % (2 * SLOTS); burst; burst--) {
			if (share_take(&reader, &copy, &taken) != SHARE_TAKEN)
				break;
			number = check_copy();
			CHECK(number > last && sent - number < SLOTS);
			last = number;
		}
	}
	while (share_take(&reader, &copy, &taken) == SHARE_TAKEN)
		last = check_copy();
	CHECK_EQ(last, sent);
	CHECK(taken.lost && !taken.bad);
	CHECK_EQ(taken.frames + taken.lost, sent);
}

TEST(share_ends_die_and_come_back)
{
	uint32_t sent = 0, last = 0, number, i;
	void *room;

	set_up(QV_CHAN_DROP_OLDEST);
	srand(30);
	for (i = 0; i < ROUNDS; i++) {
		(void)send(++sent);
		if (!(rand() % 8)) {		/* it dies within a write */
			(void)qv_end_claim(&writer, &room);
			manage_state(window, 0, QV_CHAN_IS_FAILED);
			manage_start(window, 0);
			attach(&writer, 0);
		}
		if (!(rand() % 8)) {
			manage_start(window, 1);
			attach(&reader, 1);
			last = 0;	/* the next life may get frames again */
		}
		if (share_take(&reader, &copy, &taken) == SHARE_TAKEN) {
			number = check_copy();
			CHECK(number > last);
			last = number;
		}
	}
	/* both continue: at most one call of each end only takes note of the other's new life */
	(void)send(++sent);
	(void)share_take(&reader, &copy, &taken);
	while (share_take(&reader, &copy, &taken) == SHARE_TAKEN)
		;
	CHECK(send(++sent));
	CHECK_EQ(share_take(&reader, &copy, &taken), SHARE_TAKEN);
	CHECK_EQ(check_copy(), sent);
	CHECK(!taken.bad);
}

/* The sections of both ends have any bytes. The sanitizers see each access beyond the window. */
TEST(share_hostile_words)
{
	struct qv_chan_page *page = (struct qv_chan_page *)window;
	uint64_t *words, value;
	uint32_t i, hostile;
	size_t n, in_section;

	srand(31);
	for (i = 0; i < ROUNDS; i++) {
		if (!(i % 64))
			set_up(i % 128 ? QV_CHAN_DROP_OLDEST : QV_CHAN_FULL_ERROR);
		hostile = (uint32_t)rand() % 2;
		(void)send(i);
		words = (uint64_t *)(window + page->end[hostile].offset);
		in_section = page->end[hostile].size / sizeof(*words);
		for (n = 0; n < 4; n++) {
			value = (uint64_t)rand() << (rand() % 4 * 16);
			words[(size_t)rand() % (rand() % 2 ? 64 : in_section)] = value;
		}
		if (share_take(&reader, &copy, &taken) == SHARE_TAKEN)
			CHECK(!copy.length || (copy.length >= NIC_FRAME_MIN &&
					       copy.length <= NIC_FRAME_MAX));
		(void)send(i);
	}
}

TEST(share_impossible_lengths_are_dropped)
{
	static const uint16_t bad[] = { 1, NIC_FRAME_MIN - 1, NIC_FRAME_MAX + 1, 0xFFFF };
	struct share_item *item;
	void *room;
	unsigned int i;

	set_up(QV_CHAN_FULL_ERROR);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		unit_case("%u", bad[i]);
		CHECK(!qv_end_claim(&writer, &room));
		item = room;
		item->length = bad[i];
		CHECK(!qv_end_commit(&writer, sizeof(*item)));
		CHECK_EQ(share_take(&reader, &copy, &taken), SHARE_BAD);
		CHECK_EQ(taken.bad, i + 1);
	}
	CHECK(share_put(&writer, &head, NULL, 0, &put));
	CHECK_EQ(share_take(&reader, &copy, &taken), SHARE_TAKEN);
	CHECK_EQ(copy.length, 0);
	CHECK(!share_put(&writer, &head, copy.frame, NIC_FRAME_MAX + 1, &put));
	for (i = 0; i < SLOTS; i++)
		CHECK(send(i));
	CHECK(!send(i));
	CHECK_EQ(put.full, 2);
}

TEST(share_addresses_differ)
{
	static const uint8_t function[] = { 0x52, 0x54, 0, 0x12, 0x34, 0x56 };
	uint8_t address[SHARE_MAX + 1][NIC_ADDRESS];
	unsigned int i, k;

	memcpy(address[SHARE_MAX], function, sizeof(function));
	for (i = 0; i < SHARE_MAX; i++) {
		share_address(function, i, address[i]);
		CHECK((address[i][0] & 3) == 2);	/* of one interface, and local */
		for (k = 0; k < i; k++)
			CHECK(memcmp(address[i], address[k], NIC_ADDRESS));
		CHECK(memcmp(address[i], address[SHARE_MAX], NIC_ADDRESS));
	}
}
