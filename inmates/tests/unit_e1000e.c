// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of the network function, with memory in place of its registers: the registers and
 * descriptors that the driver writes, and the checks of descriptors that the function has written.
 */
#include <stdlib.h>
#include <string.h>
#include "../quest/drivers/net/e1000e.h"
#include "../quest/drivers/net/physical.h"
#include "unit.h"

#define CTRL	0x0000
#define RESET	(1u << 26)
#define IMS	0x00D0
#define IMC	0x00D8
#define EIAC	0x00DC
#define IVAR	0x00E4
#define EITR_1	0x00EC
#define LINK	(1u << 2)
#define FRAME	(1u << 7)
#define QUEUE_0	(1u << 20)
#define OTHERS	(1u << 24)
#define RDBAL	0x2800
#define RDBAH	0x2804
#define RDLEN	0x2808
#define RDT	0x2818
#define TDBAL	0x3800
#define TDLEN	0x3808
#define TDT	0x3818
#define RAL	0x5400
#define RAH	0x5404
#define VALID	(1u << 31)
#define DONE	1
#define END	2
#define BUS	0x123456000ull		/* where the function finds the memory */

static uint32_t registers[PF_REGISTERS / 4];
static struct e1000e_memory memory;
static struct nic n;
static uint64_t paused_us;
static bool stuck;			/* the reset does not end */
static uint32_t low = 0x12005452, high = VALID | 0x5634;

/* The function ends its reset while the driver waits. */
static void pause_us(uint64_t us)
{
	paused_us += us;
	if (stuck)
		return;
	registers[CTRL / 4] &= ~RESET;
	registers[RAL / 4] = low;
	registers[RAH / 4] = high;
}

static const char *start(void)
{
	n = (struct nic){ .driver = &e1000e_driver, .registers = registers, .memory = &memory,
			  .bus = BUS, .pause_us = pause_us };
	return e1000e_driver.start(&n);
}

/* The function has received a frame into descriptor `i`. */
static void arrive(uint32_t i, uint16_t length, uint8_t status, uint8_t errors)
{
	memory.rx[i].length = length;
	memory.rx[i].errors = errors;
	memory.rx[i].status = status;
}

static bool owned(uint32_t i)
{
	return memory.rx[i].address == BUS + offsetof(struct e1000e_memory, rx_buffer) +
				       i * NIC_BUFFER && !memory.rx[i].status;
}

TEST(e1000e_start_gives_rings_and_buffers)
{
	static const uint8_t address[] = { 0x52, 0x54, 0x00, 0x12, 0x34, 0x56 };
	unsigned int i;

	CHECK(!start());
	CHECK(!memcmp(n.address, address, sizeof(address)));
	CHECK_EQ(registers[RDBAL / 4], (uint32_t)BUS);
	CHECK_EQ(registers[RDBAH / 4], BUS >> 32);
	CHECK_EQ(registers[RDLEN / 4], 16 * NIC_RX);
	CHECK_EQ(registers[RDT / 4], NIC_RX - 1);
	CHECK_EQ(registers[TDBAL / 4], (uint32_t)BUS + 16 * NIC_RX);
	CHECK_EQ(registers[TDLEN / 4], 16 * NIC_TX);
	CHECK_EQ(registers[IMC / 4], ~0u);
	CHECK_EQ(registers[IMS / 4], 0);
	CHECK_EQ(registers[RDLEN / 4] % 128 + registers[TDLEN / 4] % 128, 0);
	CHECK_EQ(offsetof(struct e1000e_memory, rx_buffer), 4096);
	for (i = 0; i < NIC_RX; i++)
		CHECK(owned(i));
}

TEST(e1000e_that_does_not_answer_is_refused_in_time)
{
	stuck = true;
	CHECK_TEXT(start(), "it does not end its reset");
	CHECK(paused_us <= 1000000);
}

TEST(e1000e_without_an_address_of_its_own_is_refused)
{
	high &= ~VALID;
	CHECK(start());
	high = VALID;
	low = 0;
	CHECK(start());
	low = 0x01;			/* of a group */
	CHECK(start());
	low = 0x02;
	CHECK(!start());
}

TEST(e1000e_frames_come_in_their_order)
{
	const volatile uint8_t *frame;
	uint32_t i;

	start();
	CHECK_EQ(e1000e_driver.receive(&n, &frame), 0);
	for (i = 0; i < 3 * NIC_RX; i++) {
		memory.rx_buffer[i % NIC_RX][0] = (uint8_t)i;
		arrive(i % NIC_RX, (uint16_t)(60 + i), DONE | END, 0);
		CHECK_EQ(e1000e_driver.receive(&n, &frame), 60 + i);
		CHECK_EQ(frame[0], (uint8_t)i);
		/* an address that the function has changed is written again */
		memory.rx[i % NIC_RX].address = 0xBAD;
		e1000e_driver.release(&n);
		CHECK(owned(i % NIC_RX));
		CHECK_EQ(registers[RDT / 4], i % NIC_RX);
		CHECK_EQ(e1000e_driver.receive(&n, &frame), 0);
	}
	CHECK_EQ(n.counts.rx, 3 * NIC_RX);
}

TEST(e1000e_bad_frames_are_given_back)
{
	static const struct {
		uint16_t length;
		uint8_t status, errors;
	} bad[] = {
		{ 0, DONE | END, 0 }, { 13, DONE | END, 0 }, { 1515, DONE | END, 0 },
		{ 0xFFFF, DONE | END, 0 }, { 60, DONE, 0 }, { 60, DONE | END, 1 },
		{ 60, DONE | END, 0x80 },
	};
	const volatile uint8_t *frame = NULL;
	unsigned int i;

	start();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		arrive(i, bad[i].length, bad[i].status, bad[i].errors);
	arrive(i, 1514, DONE | END, 0);
	CHECK_EQ(e1000e_driver.receive(&n, &frame), 1514);
	CHECK(frame == memory.rx_buffer[i]);
	CHECK_EQ(n.counts.rx_bad, i);
	while (i-- > 0)
		CHECK(owned(i));
}

/* The last part of a frame is no frame, however it looks. */
TEST(e1000e_all_parts_of_a_frame_are_given_back)
{
	const volatile uint8_t *frame;

	start();
	arrive(0, 2048, DONE, 0);
	arrive(1, 60, DONE, 0);
	CHECK_EQ(e1000e_driver.receive(&n, &frame), 0);
	arrive(2, 60, DONE | END, 0);
	arrive(3, 61, DONE | END, 0);
	CHECK_EQ(e1000e_driver.receive(&n, &frame), 61);
	CHECK_EQ(e1000e_driver.receive(&n, &frame), 61);
	CHECK_EQ(n.counts.rx_bad, 3);
	e1000e_driver.release(&n);
	/* after a start, the rest does not come */
	arrive(4, 60, DONE, 0);
	CHECK_EQ(e1000e_driver.receive(&n, &frame), 0);
	CHECK(!e1000e_driver.start(&n));
	arrive(0, 62, DONE | END, 0);
	CHECK_EQ(e1000e_driver.receive(&n, &frame), 62);
}

/* Every descriptor of the ring has a bad frame. */
TEST(e1000e_flood_of_bad_frames_ends_after_one_round)
{
	const volatile uint8_t *frame;
	uint32_t i;

	start();
	for (i = 0; i < NIC_RX; i++)
		arrive(i, 0, DONE | END, 0xFF);
	CHECK_EQ(e1000e_driver.receive(&n, &frame), 0);
	CHECK_EQ(n.counts.rx_bad, NIC_RX);
}

TEST(e1000e_sends_until_the_ring_is_full)
{
	volatile uint8_t *room;
	uint32_t i;

	start();
	for (i = 0; i < NIC_TX - 1; i++) {
		room = e1000e_driver.room(&n);
		CHECK(room == memory.tx_buffer[i]);
		e1000e_driver.send(&n, 60 + i);
		CHECK_EQ(memory.tx[i].length, 60 + i);
		CHECK_EQ(memory.tx[i].address, BUS + offsetof(struct e1000e_memory, tx_buffer) +
					       i * NIC_BUFFER);
		CHECK_EQ(registers[TDT / 4], i + 1);
	}
	CHECK(!e1000e_driver.room(&n));
	CHECK_EQ(n.counts.tx_full, 1);
	/* a later frame gives no room before the oldest frame */
	memory.tx[1].status = DONE;
	CHECK(!e1000e_driver.room(&n));
	memory.tx[0].status = DONE;
	CHECK(e1000e_driver.room(&n) == memory.tx_buffer[NIC_TX - 1]);
	e1000e_driver.send(&n, 60);
	CHECK(e1000e_driver.room(&n) == memory.tx_buffer[0]);
	CHECK_EQ(registers[TDT / 4], 0);
}

/* The function writes any values: each frame that the driver returns fits into its buffers. */
TEST(e1000e_checks_each_descriptor)
{
	const volatile uint8_t *frame;
	volatile uint8_t *room;
	size_t length, round;

	start();
	for (round = 0; round < 20000; round++) {
		uint8_t *word = (uint8_t *)&memory + rnd_below(16 * (NIC_RX + NIC_TX));

		*word = rnd_below(2) ? DONE | END : (uint8_t)rnd();
		if (!rnd_below(4))
			arrive(n.rx_next, (uint16_t)rnd_below(2000), DONE | END, !rnd_below(4));
		length = e1000e_driver.receive(&n, &frame);
		if (length) {
			CHECK(length >= NIC_FRAME_MIN && length <= NIC_FRAME_MAX);
			CHECK(frame >= memory.rx_buffer[0] &&
			      frame + length <= memory.rx_buffer[NIC_RX - 1] + NIC_BUFFER);
			e1000e_driver.release(&n);
		}
		room = e1000e_driver.room(&n);
		if (room) {
			CHECK((size_t)(room - memory.tx_buffer[0]) % NIC_BUFFER == 0);
			CHECK(room <= memory.tx_buffer[NIC_TX - 1]);
			e1000e_driver.send(&n, 60);
		}
		CHECK(n.rx_next < NIC_RX && n.tx_next < NIC_TX && n.tx_oldest < NIC_TX);
		CHECK(registers[RDT / 4] < NIC_RX && registers[TDT / 4] < NIC_TX);
	}
	CHECK(n.counts.rx && n.counts.rx_bad && n.counts.tx > NIC_TX);
}

TEST(e1000e_listen_adds_an_address)
{
	static const uint8_t other[] = { 0x42, 0x54, 0x00, 0x12, 0x34, 0x56 };

	CHECK(!start());
	e1000e_driver.listen(&n, 3, other);
	CHECK_EQ(registers[(RAL + 24) / 4], 0x12005442u);
	CHECK_EQ(registers[(RAH + 24) / 4], VALID | 0x5634);
	CHECK_EQ(registers[RAL / 4], low);
}

/* Received frames and all other causes have entry 1 of MSI-X, which no message by MSI uses. */
TEST(e1000e_interrupts_by_msi_or_by_one_entry_of_msix)
{
	registers[EITR_1 / 4] = 8000;	/* of another driver */
	CHECK(!start());
	CHECK_EQ(registers[EITR_1 / 4], 0);
	CHECK_EQ(registers[IVAR / 4], 0x90009);
	CHECK_EQ(registers[EIAC / 4], QUEUE_0);
	e1000e_driver.mask(&n, false);
	CHECK_EQ(registers[IMS / 4] & (LINK | FRAME | QUEUE_0 | OTHERS), LINK | FRAME);
	n.msix = true;
	e1000e_driver.mask(&n, false);
	CHECK_EQ(registers[IMS / 4], LINK | QUEUE_0 | OTHERS);
	registers[IMC / 4] = 0;
	e1000e_driver.mask(&n, true);
	CHECK_EQ(registers[IMC / 4], ~0u);
}
