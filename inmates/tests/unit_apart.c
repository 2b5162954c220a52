// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's side of a network driver that is a program: frames pass in order, and a driver that
 * writes anything, at any time, makes the kernel neither read nor write outside its slots.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "../quest/drivers/net/apart.h"
#include "unit.h"

#define ROUNDS		40000
#define RACE_ROUNDS	100000
#define START		0xFFFFFFF0u		/* numbers wrap soon */

static struct apart_area *area;
static struct nic n;

/* The area ends where the memory ends, so that the sanitizer finds accesses behind it. */
static void plug(void)
{
	free(area);
	area = calloc(1, sizeof(*area));
	n = (struct nic){ .driver = &apart_driver, .memory = area, .lost = true };
	apart_begin(&n);
}

static void begin_driver(void)
{
	memcpy(area->in.address, "\x52\x54\0\x12\x34\x56", NIC_ADDRESS);
	area->in.link = area->in.started = 1;
}

/* Returns the length of the next frame, whose first byte is in *first. */
static size_t take(uint8_t *first)
{
	const volatile uint8_t *frame;
	size_t length = n.driver->receive(&n, &frame), i;
	uint8_t sum = 0;

	if (!length)
		return 0;
	CHECK(length >= NIC_FRAME_MIN && length <= NIC_FRAME_MAX);
	for (i = 0; i < length; i++)
		sum ^= frame[i];
	*first = frame[0];
	n.driver->release(&n);
	return length + (sum & 0);
}

static bool put(uint8_t first, size_t length)
{
	volatile uint8_t *room = n.driver->room(&n);

	if (!room)
		return false;
	memset((void *)room, first, length);
	n.driver->send(&n, length);
	return true;
}

TEST(apart_without_a_driver_nothing_passes)
{
	plug();
	n.lost = true;
	begin_driver();
	area->in.put = 3;
	CHECK(!take(&(uint8_t){ 0 }) && !put(1, 60) && !n.driver->link(&n) && !apart_started(&n));
	CHECK(!n.wrong);
	apart_begin(&n);
	CHECK(!area->in.put && !area->in.started && !n.driver->link(&n));
	begin_driver();
	CHECK(apart_started(&n) && n.driver->link(&n) && n.address[5] == 0x56);
}

/* An honest driver: each frame that it puts comes out once, in order, over the end of numbers. */
TEST(apart_frames_pass_in_order)
{
	uint32_t sent = START, got = START, in = START, i;
	uint8_t first;
	size_t length;

	plug();
	begin_driver();
	n.rx_next = n.tx_next = n.tx_oldest = START;
	area->in.put = area->in.taken = area->out.put = area->out.taken = START;
	for (i = 0; i < ROUNDS; i++) {
		if (rnd() % 2 && in - area->out.taken < QUEST_NIC_RECEIVED) {
			area->in.slots[in % QUEST_NIC_RECEIVED].length = 14 + in % 1501;
			area->in.slots[in % QUEST_NIC_RECEIVED].frame[0] = (uint8_t)in;
			area->in.put = ++in;
		}
		if (rnd() % 2 && (length = take(&first))) {
			CHECK(length == 14 + got % 1501 && first == (uint8_t)got);
			got++;
		}
		if (rnd() % 2 && put((uint8_t)sent, 14 + sent % 1501))
			sent++;
		if (rnd() % 2 && area->in.taken != area->out.put) {
			uint32_t at = area->in.taken;

			CHECK(area->out.slots[at % QUEST_NIC_SENT].length == 14 + at % 1501);
			CHECK(area->out.slots[at % QUEST_NIC_SENT].frame[0] == (uint8_t)at);
			area->in.taken++;
		}
	}
	CHECK(!n.wrong && got - START > ROUNDS / 8 && sent - START > ROUNDS / 8);
	CHECK(area->out.put == sent && area->out.taken == got);
}

TEST(apart_no_more_is_sent_than_has_room)
{
	unsigned int i;

	plug();
	begin_driver();
	for (i = 0; i < QUEST_NIC_SENT; i++)
		CHECK(put(1, 60));
	CHECK(!put(1, 60) && n.counts.tx_full == 1);
	area->in.taken = 1;
	CHECK(put(1, 60) && !put(1, 60) && !n.wrong);
}

TEST(apart_impossible_words_end_the_driver)
{
	static const uint32_t waiting[] = { QUEST_NIC_RECEIVED + 1, 0x80000000u, ~0u };
	static const uint32_t lengths[] = { 0, NIC_FRAME_MIN - 1, NIC_FRAME_MAX + 1, ~0u };
	static const uint8_t addresses[][NIC_ADDRESS] = { { 0 }, { 1, 2, 3, 4, 5, 6 } };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		plug();
		area->in.put = waiting[i];
		area->in.slots[0].length = 60;
		CHECK(!take(&(uint8_t){ 0 }) && n.wrong && n.lost && !put(1, 60));
	}
	for (i = 0; i < 4; i++) {
		plug();
		area->in.put = 1;
		area->in.slots[0].length = lengths[i];
		CHECK(!take(&(uint8_t){ 0 }) && n.wrong && n.lost && !area->out.taken);
	}
	for (i = 0; i < 2; i++) {
		plug();
		begin_driver();
		memcpy(area->in.address, addresses[i], NIC_ADDRESS);
		CHECK(!apart_started(&n) && n.wrong && !n.driver->link(&n));
	}
	plug();
	CHECK(put(1, 60));
	area->in.taken = 2;
	CHECK(!put(1, 60) && n.wrong);
	plug();
	CHECK(put(1, 60) && put(1, 60));
	area->in.taken = 2;
	CHECK(put(1, 60));
	area->in.taken = 1;			/* it may not take back what it said */
	CHECK(!put(1, 60) && n.wrong);
}

/* The kernel does what it does, in any order. A driver that was ended begins again. */
static void act(void)
{
	uint8_t first;

	switch (rnd_below(5)) {
	case 0: (void)n.driver->link(&n); break;
	case 1: (void)put((uint8_t)rnd(), 14 + rnd_below(1501)); break;
	case 2: n.driver->listen(&n, 1 + rnd_below(QUEST_NIC_LISTEN), (const uint8_t *)"abcdef");
		break;
	default: (void)take(&first);
	}
	if (n.lost)
		apart_begin(&n);
}

static void scribble(uint32_t *seed)
{
	volatile uint32_t *words = (volatile uint32_t *)&area->in;
	uint32_t r = *seed = *seed * 1664525u + 1013904223u;

	switch (r >> 29) {
	case 0: area->in.put += 1; break;
	case 1: area->in.put = area->out.taken + (r >> 8) % 70; break;
	case 2: area->in.taken = area->out.put - (r >> 8) % 40; break;
	case 3: area->in.slots[(r >> 8) % QUEST_NIC_RECEIVED].length = (r >> 12) % 1600; break;
	case 4: area->in.slots[(r >> 8) % QUEST_NIC_RECEIVED].length = r; break;
	case 5: begin_driver(); break;
	default: words[(r >> 4) % (sizeof(area->in) / 4)] = r; break;
	}
}

TEST(apart_survives_a_driver_that_writes_anything)
{
	uint32_t seed = (uint32_t)rnd();
	uint64_t frames = 0, ends = 0;
	unsigned int i, k;

	plug();
	for (i = 0; i < ROUNDS; i++) {
		for (k = rnd_below(4); k; k--)
			scribble(&seed);
		act();
		ends += !n.rx_next && !n.tx_next;
		frames = n.counts.rx + n.counts.tx;
		CHECK(n.tx_next - n.tx_oldest <= QUEST_NIC_SENT);
	}
	CHECK(frames > ROUNDS / 20 && ends > ROUNDS / 100);
}

static volatile bool over;

static void *write_anything(void *arg)
{
	uint32_t seed = 1;

	while (!over)
		scribble(&seed);
	return arg;
}

/* The same, while the driver runs on another processor. */
TEST(apart_survives_a_driver_that_writes_meanwhile)
{
	pthread_t driver;
	unsigned int i;

	plug();
	over = false;
	CHECK(!pthread_create(&driver, NULL, write_anything, NULL));
	for (i = 0; i < RACE_ROUNDS; i++) {
		act();
		CHECK(n.tx_next - n.tx_oldest <= QUEST_NIC_SENT);
	}
	over = true;
	CHECK(!pthread_join(driver, NULL));
}
