// SPDX-License-Identifier: GPL-2.0-only
/*
 * The physical function of the 82576, with memory in place of its registers, which may have any
 * values. unit_igbvf.c has more of its descriptors.
 */
#include <string.h>
#include "../quest/drivers/net/advanced.h"
#include "../quest/drivers/net/igb.h"
#include "../quest/drivers/net/physical.h"
#include "unit.h"

#define GPIE		0x1514
#define EIMS		0x1524
#define EIMC		0x1528
#define EIAC		0x152C
#define EICR		0x1580
#define EITR_1		0x1684
#define IVAR		0x1700
#define IVAR_OTHER	0x1740
#define RX_KIND		0x280C
#define RX_TAIL		0x2818
#define RX_CONTROL	0x2828
#define TX_TAIL		0x3818
#define TX_CONTROL	0x3828
#define DRIVER		(1u << 28)
#define DONE		1u
#define END		2u
#define BUS		0x123456000ull		/* where the function finds the memory */
#define RESET_TCTL	0xA4000000u		/* bits that a reset sets */
#define LIMIT_US	1000000
#define USUAL_US	10000

static uint32_t registers[PF_REGISTERS / 4];
static struct advanced_memory memory;
static struct nic n;
static uint64_t paused_us;
/* Faults of the function */
static bool runs_on, resets_on, no_rx, no_tx;
static unsigned int address_after;		/* pauses of 1 ms; ~0: it loads none */
static uint32_t low = 0x12005452, high = PF_RAH_VALID | 0x5634;

/* Meanwhile the function acts. */
static void pause_us(uint64_t us)
{
	paused_us += us;
	if (!runs_on && registers[PF_CTRL / 4] & PF_CTRL_STOP_DMA)
		registers[PF_STATUS / 4] &= ~PF_STATUS_DMA;
	if (!resets_on && registers[PF_CTRL / 4] & PF_CTRL_RST) {
		registers[PF_CTRL / 4] = 0;
		registers[PF_TCTL / 4] = RESET_TCTL;
		registers[PF_RAH / 4] = 0;
	}
	if (paused_us / 1000 > address_after) {
		registers[PF_RAL / 4] = low;
		registers[PF_RAH / 4] = high;
	}
	if (no_rx)
		registers[RX_CONTROL / 4] = 0;
	if (no_tx)
		registers[TX_CONTROL / 4] = 0;
}

/* The registers are as another driver has left them. */
static const char *start(void)
{
	memset(registers, 0x5A, sizeof(registers));
	registers[EIMS / 4] = 0;
	registers[PF_STATUS / 4] = PF_STATUS_DMA;
	memset(&memory, 0xFF, sizeof(memory));
	paused_us = 0;
	n = (struct nic){ .driver = &igb_driver, .registers = registers, .memory = &memory,
			  .bus = BUS, .pause_us = pause_us };
	return n.driver->start(&n);
}

static bool is_given(uint32_t i)
{
	return memory.rx[i].address == BUS + offsetof(struct advanced_memory, rx_buffer) +
				       i * NIC_BUFFER && !memory.rx[i].status;
}

TEST(igb_starts_queue_0)
{
	static const uint8_t address[] = { 0x52, 0x54, 0, 0x12, 0x34, 0x56 };
	uint32_t i;

	CHECK(!start());
	CHECK(paused_us < USUAL_US);
	CHECK(!memcmp(n.address, address, sizeof(address)));
	for (i = 0; i < NIC_RX; i++)
		CHECK(is_given(i));
	for (i = 0; i < PF_MTA_WORDS; i++)
		CHECK_EQ(registers[PF_MTA / 4 + i], 0);
	CHECK_EQ(registers[0x2800 / 4], (uint32_t)BUS);
	CHECK_EQ(registers[0x2804 / 4], BUS >> 32);
	CHECK_EQ(registers[0x2808 / 4], sizeof(memory.rx));
	CHECK_EQ(registers[0x3808 / 4], sizeof(memory.tx));
	CHECK_EQ(registers[RX_KIND / 4], 1u << 25 | 2);
	CHECK(registers[RX_CONTROL / 4] & registers[TX_CONTROL / 4] & 1u << 25);
	CHECK_EQ(registers[RX_TAIL / 4], NIC_RX - 1);
	CHECK_EQ(registers[TX_TAIL / 4], 0);
	CHECK_EQ(registers[PF_RCTL / 4], PF_RCTL_EN | PF_RCTL_BROADCAST | PF_RCTL_STRIP);
	CHECK_EQ(registers[PF_TCTL / 4], RESET_TCTL | PF_TCTL_EN | PF_TCTL_PAD);
	CHECK_EQ(registers[PF_MRQC / 4], 0);
	CHECK(registers[PF_CTRL / 4] & PF_CTRL_SLU);
	CHECK(registers[PF_CTRL_EXT / 4] & DRIVER);
}

/* Both causes have entry 1, without a pause that another driver has set, and are masked. */
TEST(igb_interrupts_by_one_entry)
{
	CHECK(!start());
	CHECK_EQ(registers[GPIE / 4] & 0x11, 0x11);
	CHECK_EQ(registers[EIAC / 4], 2);
	CHECK_EQ(registers[EITR_1 / 4], 0);
	CHECK_EQ(registers[IVAR / 4], 0x81);
	CHECK_EQ(registers[IVAR_OTHER / 4], 0x8100);
	CHECK_EQ(registers[EIMS / 4], 0);
	CHECK_EQ(registers[EIMC / 4], ~0u);
	n.driver->mask(&n, false);
	CHECK_EQ(registers[EIMS / 4], 2);
	n.driver->mask(&n, true);
	CHECK_EQ(registers[EIMC / 4], 2);
	registers[EICR / 4] = 0;
	n.driver->acknowledge(&n);
	CHECK_EQ(registers[EICR / 4], 2);
}

TEST(igb_that_does_not_act_is_refused_in_time)
{
	static const struct {
		bool resets_on, no_rx, no_tx, no_address;
		const char *why;
	} bad[] = {
		{ .resets_on = true, .why = "it does not end its reset" },
		{ .no_rx = true, .why = "its queues do not start" },
		{ .no_tx = true, .why = "its queues do not start" },
		{ .no_address = true, .why = "it has no Ethernet address of its own" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		unit_case("%u", i);
		resets_on = bad[i].resets_on;
		no_rx = bad[i].no_rx;
		no_tx = bad[i].no_tx;
		address_after = bad[i].no_address ? ~0u : 0;
		CHECK_TEXT(start(), bad[i].why);
		CHECK(paused_us < LIMIT_US);
		CHECK(!(registers[PF_RCTL / 4] & PF_RCTL_EN));
	}
}

TEST(igb_that_acts_late_is_used)
{
	runs_on = true;			/* its reset ends the DMA */
	CHECK(!start());
	CHECK(paused_us < LIMIT_US);
	address_after = 120;
	CHECK(!start());
}

TEST(igb_without_an_address_of_its_own_is_refused)
{
	low = 0;
	high = PF_RAH_VALID;
	CHECK(start());
	low = 0x01;			/* of a group */
	CHECK(start());
	low = 0x02;
	CHECK(!start());
}

/* A look at the link does not wait for it. */
TEST(igb_link_may_be_down)
{
	uint64_t before;

	CHECK(!start());
	before = paused_us;
	registers[PF_STATUS / 4] = ~PF_STATUS_LU;
	CHECK(!n.driver->link(&n));
	registers[PF_STATUS / 4] = PF_STATUS_LU;
	CHECK(n.driver->link(&n));
	CHECK_EQ(paused_us, before);
}

/* A frame that is never sent gives no room, until the function is started again. */
TEST(igb_passes_frames_in_order)
{
	const volatile uint8_t *frame;
	uint32_t i;

	CHECK(!start());
	CHECK_EQ(n.driver->receive(&n, &frame), 0);
	memory.rx[1].length = 61;		/* the one before is not there */
	memory.rx[1].status = DONE | END;
	CHECK_EQ(n.driver->receive(&n, &frame), 0);
	memory.rx[0].length = 60;
	memory.rx[0].status = DONE | END;
	for (i = 0; i < 2; i++) {
		CHECK_EQ(n.driver->receive(&n, &frame), 60 + i);
		n.driver->release(&n);
		CHECK(is_given(i));
		CHECK_EQ(registers[RX_TAIL / 4], i);
	}
	for (i = 1; i < NIC_TX; i++) {
		CHECK(n.driver->room(&n) == memory.tx_buffer[i - 1]);
		n.driver->send(&n, 60);
		CHECK_EQ(registers[TX_TAIL / 4], i);
		memory.tx[i].status = DONE;
	}
	CHECK(!n.driver->room(&n));
	CHECK(!start());
	CHECK(n.driver->room(&n) == memory.tx_buffer[0]);
}

/* While the driver waits, the registers get any values. */
static void scramble(uint64_t us)
{
	uint32_t i;

	paused_us += us;
	for (i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		registers[i] = rnd_below(4) ? (uint32_t)rnd() : rnd_below(2) ? ~0u : 0;
}

TEST(igb_with_any_registers_ends_its_start)
{
	const volatile uint8_t *frame;
	unsigned int round, started = 0;
	size_t length;

	for (round = 0; round < 100; round++) {
		n = (struct nic){ .driver = &igb_driver, .registers = registers,
				  .memory = &memory, .bus = BUS, .pause_us = scramble };
		paused_us = 0;
		started += !n.driver->start(&n);
		CHECK(paused_us < LIMIT_US);
		scramble(0);
		(void)n.driver->link(&n);
		length = n.driver->receive(&n, &frame);
		CHECK(!length || (length >= NIC_FRAME_MIN && length <= NIC_FRAME_MAX));
	}
	CHECK(started > 0 && started < round);
}

/* All of its registers are ones. */
static void stay_away(uint64_t us)
{
	paused_us += us;
	memset(registers, 0xFF, sizeof(registers));
}

TEST(igb_that_is_gone_is_refused_in_time)
{
	memset(registers, 0xFF, sizeof(registers));
	n = (struct nic){ .driver = &igb_driver, .registers = registers, .memory = &memory,
			  .bus = BUS, .pause_us = stay_away };
	CHECK_TEXT(n.driver->start(&n), "it does not end its reset");
	CHECK(paused_us < LIMIT_US);
}
