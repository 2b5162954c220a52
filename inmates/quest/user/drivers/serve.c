// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moves frames between the rings of the function (inmates/quest/drivers/net, as in the kernel) and
 * those of the kernel.
 */
#include <quest.h>
#include <stdbool.h>
#include <string.h>
#include "../../drivers/net/e1000e.h"
#include "../../drivers/net/igb.h"
#include "../../drivers/net/igbvf.h"
#include "../../drivers/net/nicrings.h"
#include "serve.h"

#define WAIT_US		20000		/* until the next look at the link */
#define POLL_US		1000
#define BEAT_PAUSES	32		/* of 1 ms; a reset of an 82574L has fewer */
#define FULL_US		100		/* until a full ring of the function has room again */

static const struct nic_driver *const drivers[] = {
	&e1000e_driver, &igb_driver, &igbvf_driver,
};
static struct nic nic;
static struct quest_nic map;
static volatile const struct quest_nic_out *out;
static volatile struct quest_nic_in *in;
static uint32_t listening;		/* addresses that the function knows */

/* A wait is no hang: it has an end. Linux's driver of a physical function may answer late. */
static void pause_us(uint64_t us)
{
	static unsigned int pauses;

	(void)usleep((unsigned int)us);
	if (++pauses % BEAT_PAUSES == 0)
		(void)recovery_beat();
}

static const struct nic_driver *find(void)
{
	size_t i;

	for (i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (drivers[i]->vendor == map.vendor && drivers[i]->device == map.device)
			return drivers[i];
	return NULL;
}

static const char *start(void)
{
	int error = driver_open(&map);

	if (error)
		return strerror(-error);
	nic.driver = find();
	if (!nic.driver)
		return "this program does not know the function";
	nic.registers = (volatile uint32_t *)map.registers;
	nic.memory = (volatile void *)map.memory;
	nic.bus = map.bus;
	nic.pause_us = pause_us;
	out = (volatile const struct quest_nic_out *)map.out;
	in = (volatile struct quest_nic_in *)map.in;
	return nic.driver->start(&nic);
}

/* Says the state of the function. It may have started again within link(). */
static void tell(void)
{
	bool up = nic.driver->link(&nic);

	memcpy((void *)in->address, nic.address, sizeof(nic.address));
	in->bad = (uint32_t)nic.counts.rx_bad;
	in->link = up;
	nic_ordered();
	in->started = 1;
}

static void listen_more(void)
{
	for (; nic.driver->listen && listening < out->listening; listening++)
		nic.driver->listen(&nic, listening + 1,
				   (const uint8_t *)out->listen[listening]);
}

/* Returns whether the function has no room, while frames wait. */
static bool send_all(void)
{
	volatile const struct quest_nic_slot *slot;
	volatile uint8_t *room;

	for (; in->taken != out->put; in->taken++) {
		room = nic.driver->room(&nic);
		if (!room)
			return true;
		nic_ordered();
		slot = &out->slots[in->taken % QUEST_NIC_SENT];
		memcpy((void *)room, (const void *)slot->frame, slot->length);
		nic.driver->send(&nic, slot->length);
	}
	return false;
}

static void receive_all(void (*look)(const struct quest_nic *map, const volatile uint8_t *frame,
				     size_t length))
{
	volatile struct quest_nic_slot *slot;
	const volatile uint8_t *frame;
	size_t length;

	while (in->put - out->taken < QUEST_NIC_RECEIVED) {
		length = nic.driver->receive(&nic, &frame);
		if (!length)
			return;
		if (look)
			look(&map, frame, length);
		nic_ordered();
		slot = &in->slots[in->put % QUEST_NIC_RECEIVED];
		memcpy((void *)slot->frame, (const void *)frame, length);
		slot->length = (uint32_t)length;
		nic.driver->release(&nic);
		nic_ordered();
		in->put++;
	}
}

const char *serve(void (*look)(const struct quest_nic *map, const volatile uint8_t *frame,
			       size_t length))
{
	const char *wrong = start();
	bool full;
	int seen = 0;

	while (!wrong && seen >= 0) {
		(void)recovery_beat();
		tell();
		listen_more();
		full = send_all();
		receive_all(look);
		seen = driver_wait((uint32_t)seen, full ? FULL_US : map.polled ? POLL_US : WAIT_US);
	}
	return wrong ? wrong : strerror(-seen);
}
