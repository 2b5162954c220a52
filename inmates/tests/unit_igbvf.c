// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings and the mailbox of a virtual function of the 82576, with memory in place of its
 * registers: the registers and the descriptors may have any values.
 */
#include <string.h>
#include "../quest/drivers/net/advanced.h"
#include "../quest/drivers/net/igbvf.h"
#include "unit.h"

#define WORDS		0x0800
#define MAILBOX		0x0C40
#define REQUEST		1u
#define OURS		4u
#define REPLY		16u
#define RESETS		0x40u
#define RESET		0x80u
#define CLEAR		0x20000000u
#define RX_TAIL		0x2818
#define TX_TAIL		0x3818
#define MESSAGE_DONE	0x80000001u
#define REFUSED		0x40000001u
#define DONE		1u
#define END		2u
#define ERROR		(1u << 31)
#define BUS		0x123456000ull		/* where the function finds the memory */

static uint32_t registers[IGBVF_REGISTERS / 4];
static struct advanced_memory memory;
static struct nic n;
static uint32_t message, low, high;	/* the answer of the physical function */
static bool silent;
static uint64_t paused;

/* Meanwhile the physical function answers the request. */
static void pause_us(uint64_t us)
{
	paused += us;
	if (silent || registers[MAILBOX / 4] != REQUEST)
		return;
	CHECK_EQ(registers[WORDS / 4], 1);
	registers[WORDS / 4] = message;
	registers[WORDS / 4 + 1] = low;
	registers[WORDS / 4 + 2] = high;
	registers[MAILBOX / 4] = REPLY;
}

static const char *start(void)
{
	memset(registers, 0, sizeof(registers));
	memset(&memory, 0xFF, sizeof(memory));
	n = (struct nic){ .driver = &igbvf_driver, .registers = registers, .memory = &memory,
			  .bus = BUS, .pause_us = pause_us };
	return n.driver->start(&n);
}

static void begin(void)
{
	message = MESSAGE_DONE;
	low = 0x12005452;
	high = 0x9934;
	CHECK(!start());
}

static uint64_t buffer(uint32_t i)
{
	return BUS + offsetof(struct advanced_memory, rx_buffer) + i * NIC_BUFFER;
}

static bool is_given(uint32_t i)
{
	return memory.rx[i].address == buffer(i) && !memory.rx[i].status;
}

static void arrive(uint32_t i, uint16_t length, uint32_t status)
{
	memory.rx[i].length = length;
	memory.rx[i].status = status;
}

TEST(igbvf_starts_by_the_mailbox)
{
	static const uint8_t address[] = { 0x52, 0x54, 0, 0x12, 0x34, 0x99 };
	uint32_t i;

	CHECK_EQ(offsetof(struct advanced_memory, rx_buffer), 4096);
	begin();
	CHECK(!memcmp(n.address, address, sizeof(address)));
	for (i = 0; i < NIC_RX; i++)
		CHECK(is_given(i));
	CHECK_EQ(registers[RX_TAIL / 4], NIC_RX - 1);
	CHECK_EQ(registers[TX_TAIL / 4], 0);
	CHECK_EQ(registers[0x2800 / 4], (uint32_t)BUS);
	CHECK_EQ(registers[0x2804 / 4], BUS >> 32);
	CHECK_EQ(registers[0x2808 / 4], sizeof(memory.rx));
	CHECK_EQ(registers[0x3808 / 4], sizeof(memory.tx));
	CHECK_EQ(registers[0x1700 / 4], 0x8181);
}

TEST(igbvf_tells_why_it_cannot_start)
{
	static const struct { uint32_t message, low, high; } bad[] = {
		{ REFUSED, 0x12005452, 0x9934 },	/* it has no address */
		{ MESSAGE_DONE, 0, 0 },
		{ MESSAGE_DONE, 0x12005401, 0x9934 },	/* the address of a group */
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		unit_case("%u", i);
		message = bad[i].message;
		low = bad[i].low;
		high = bad[i].high;
		CHECK_TEXT(start(), "the driver of the physical function gives it no address");
		CHECK_EQ(registers[RX_TAIL / 4], 0);
	}
	silent = true;
	paused = 0;
	CHECK_TEXT(start(), "the driver of the physical function does not answer");
	CHECK(paused >= 1000000 && paused < 10000000);
}

/* The physical function was reset, or its driver says that the virtual one must start again. */
TEST(igbvf_starts_again_after_others_reset_it)
{
	static const struct { uint32_t mailbox, words; bool lost; } told[] = {
		{ 0, 0, false }, { RESET, 0, true }, { REPLY, CLEAR | 0x100, false },
		{ REPLY, 0x100, true },
	};
	const volatile uint8_t *frame;
	unsigned int i;

	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		unit_case("%u", i);
		begin();
		registers[2] = 2;		/* the link is up */
		arrive(0, 60, DONE | END);
		registers[MAILBOX / 4] = told[i].mailbox;
		registers[WORDS / 4] = told[i].words;
		CHECK(n.driver->link(&n));
		CHECK_EQ(n.driver->receive(&n, &frame), told[i].lost ? 0 : 60);
	}
	begin();
	registers[2] = 2;
	registers[MAILBOX / 4] = RESETS;
	CHECK(!n.driver->link(&n));	/* not yet */
	CHECK_EQ(registers[MAILBOX / 4], RESETS);
	registers[MAILBOX / 4] = 0;
	silent = true;
	CHECK(!n.driver->link(&n));	/* no driver answers */
	silent = false;
	registers[MAILBOX / 4] = 0;
	CHECK(n.driver->link(&n));
}

TEST(igbvf_receives_in_order_and_gives_back)
{
	const volatile uint8_t *frame;
	uint32_t i;

	begin();
	for (i = 0; i < 3 * NIC_RX; i++) {
		CHECK_EQ(n.driver->receive(&n, &frame), 0);
		arrive(i % NIC_RX, (uint16_t)(60 + i), DONE | END);
		memory.rx[i % NIC_RX].address = 0xBAD;
		CHECK_EQ(n.driver->receive(&n, &frame), 60 + i);
		CHECK(frame == memory.rx_buffer[i % NIC_RX]);
		n.driver->release(&n);
		CHECK(is_given(i % NIC_RX));
		CHECK_EQ(registers[RX_TAIL / 4], i % NIC_RX);
	}
	CHECK_EQ(n.counts.rx, i);
	CHECK_EQ(n.counts.rx_bad, 0);
}

TEST(igbvf_drops_frames_that_cannot_be)
{
	static const struct { uint16_t length; uint32_t status; } bad[] = {
		{ 60, DONE }, { 60, DONE | END | ERROR }, { 0, DONE | END }, { 13, DONE | END },
		{ NIC_FRAME_MAX + 1, DONE | END }, { 0xFFFF, ~0u >> 1 },
	};
	const volatile uint8_t *frame;
	uint32_t i, number = sizeof(bad) / sizeof(bad[0]);

	begin();
	for (i = 0; i < number; i++)
		arrive(i, bad[i].length, bad[i].status);
	arrive(i, NIC_FRAME_MAX, DONE | END);
	CHECK_EQ(n.driver->receive(&n, &frame), NIC_FRAME_MAX);
	CHECK(frame == memory.rx_buffer[number]);
	CHECK_EQ(n.counts.rx_bad, number);
	for (i = 0; i < number; i++)
		CHECK(is_given(i));
	/* a ring full of them: the call ends */
	begin();
	for (i = 0; i < NIC_RX; i++)
		arrive(i, 1, DONE | END);
	CHECK_EQ(n.driver->receive(&n, &frame), 0);
	CHECK_EQ(n.counts.rx_bad, NIC_RX);
}

/* The last part of a frame is no frame, however it looks. */
TEST(igbvf_drops_all_parts_of_a_frame)
{
	const volatile uint8_t *frame;

	begin();
	arrive(0, 2048, DONE);
	arrive(1, 60, DONE);
	CHECK_EQ(n.driver->receive(&n, &frame), 0);
	arrive(2, 60, DONE | END);
	arrive(3, 61, DONE | END);
	CHECK_EQ(n.driver->receive(&n, &frame), 61);
	CHECK_EQ(n.driver->receive(&n, &frame), 61);
	CHECK_EQ(n.counts.rx_bad, 3);
	n.driver->release(&n);
	/* after a start, the rest does not come */
	arrive(4, 60, DONE);
	CHECK_EQ(n.driver->receive(&n, &frame), 0);
	CHECK(!n.driver->start(&n));
	arrive(0, 62, DONE | END);
	CHECK_EQ(n.driver->receive(&n, &frame), 62);
}

TEST(igbvf_sends_until_the_ring_is_full)
{
	volatile uint8_t *room;
	uint32_t i;

	begin();
	for (i = 0; i < NIC_TX - 1; i++) {
		room = n.driver->room(&n);
		CHECK(room == memory.tx_buffer[i]);
		n.driver->send(&n, 60 + i);
		CHECK_EQ(memory.tx[i].command, 0x2B300000u | (60 + i));
		CHECK_EQ(memory.tx[i].status, (60 + i) << 14);
		CHECK_EQ(registers[TX_TAIL / 4], i + 1);
	}
	CHECK(!n.driver->room(&n));
	memory.tx[1].status = DONE;	/* not the oldest one */
	CHECK(!n.driver->room(&n));
	CHECK_EQ(n.counts.tx_full, 2);
	memory.tx[0].status = DONE;
	CHECK(n.driver->room(&n) == memory.tx_buffer[NIC_TX - 1]);
}
