// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "core/cpu.h"
#include "core/pci.h"
#include "manage/manage.h"
#include "channels_world.h"
#include "pci_world.h"
#include "steps_cell.h"
#include "tables.h"
#include "unit.h"
#include "world.h"

#define M2		(u64)QV_HUGE
#define HIDDEN		0x100000u	/* offset in a block, beyond its open part */
#define CHANNEL		(50 * M2)
#define PORT		0x2f8u
#define WRITTEN		0xcecececececececeull

/* An address of each, in the order of the bits */
static const u64 resources[] = {
	STEPS_BLOCK + HIDDEN, 11 * M2 + HIDDEN, 40 * M2 + HIDDEN, CHANNEL + QV_PAGE,
	STEPS_SHARED + QV_PAGE, STEPS_BAR,
};
#define RESOURCES	(sizeof(resources) / sizeof(resources[0]))

static const u32 of_cell_ram = HAS_MEMORY | HAS_MEMORY2 | HAS_CHANNEL;

static void channel(struct qv_mon_channel *c, u64 pa, const char *other)
{
	channels_describe(c, 0, "a", other);
	c->pa[0] = pa;
	c->bell_vector = CELL_BELL;
	c->page.flags |= QV_CHAN_BELL;
}

void steps_request(struct qv_mon_create *q)
{
	pci_world_function(STEPS_FUNCTION, STEPS_BAR);
	*q = (struct qv_mon_create){
		.block_pa = STEPS_BLOCK, .console_pa = 0x180000, .num_cpus = 2, .cpus = { 3, 1 },
		.num_runs = 2, .runs = { { 11 * M2, 1 }, { 40 * M2, 1 } }, .entry.eip = 0x100000,
		.doorbell_vector = 0x20, .bell_rate = 10, .lock = QV_LOCK_MAY,
		.num_ports = 1, .ports = { { PORT, PORT + 1 } },
		.num_devices = 1, .devices = { pci_world_device(STEPS_FUNCTION, STEPS_BAR) },
		.num_channels = 2,
	};
	strcpy((char *)q->name, "a");
	channel(&q->channels[0], CHANNEL, "b");
	channel(&q->channels[1], STEPS_SHARED, "linux");
	memcpy(fake_ram + REQUEST_PAGE * M2, q, sizeof(*q));
}

u32 steps_linux_has(void)
{
	u32 i, found = 0;

	for (i = 0; i < RESOURCES; i++) {
		struct leaf l = tables_walk(&me()->nested, resources[i]);

		if (l.present && l.pa == resources[i] && (l.write || 1u << i != HAS_SECTION))
			found |= 1u << i;
	}
	return found;
}

u64 steps_mapping(u64 va)
{
	u64 entry = me()->directory[va >> 21 & 511];

	return entry & PT_P ? entry & PT_ADDR & -M2 : 0;
}

static u32 in_page(u64 page)
{
	u32 i, found = 0;

	for (i = 0; page && i < RESOURCES; i++)
		if ((resources[i] & -M2) == page)
			found |= 1u << i;
	return found;
}

/*
 * A cell that was started gives back its memory first, and then the rest, in the same calls. The
 * channel with Linux is in steps.c.
 */
static u32 secret_of_cell(const struct cell_slot *slot)
{
	u32 pages = HAS_BLOCK;

	if (slot->state != QV_MON_RUNNING && slot->state != QV_MON_STOPPED)
		return pages;
	if (slot->reclaimed < 2) {
		CHECK_EQ(me()->port_map[PORT / 8] & 3, 3);
		CHECK(pci_given(STEPS_FUNCTION));
		pages |= HAS_CHANNEL | HAS_BAR;
	}
	return pages | (of_cell_ram & ~HAS_CHANNEL & ~((2u << slot->reclaimed) - 1));
}

u32 steps_secret(void)
{
	const struct cell_slot *slot = &me()->manager.cells[1];
	u32 scrubbed = in_page(steps_mapping(QV_VA_SCRUB));
	u64 managed = steps_mapping(QV_VA_MANAGE);

	CHECK(!managed || managed == STEPS_BLOCK);
	CHECK(!steps_mapping(QV_VA_SCRUB) || scrubbed);
	/* The manager may write the life page of the channel with Linux */
	return in_page(managed) | (scrubbed & ~HAS_SECTION) |
	       (slot->state ? secret_of_cell(slot) : 0);
}

void steps_write(void)
{
	u32 i;

	for (i = 0; i < RESOURCES; i++)
		if (of_cell_ram >> i & 1)
			*(u64 *)(fake_ram + resources[i]) = WRITTEN;
}

void steps_seen(u32 has)
{
	u32 i;

	for (i = 0; i < RESOURCES; i++)
		CHECK(!((has & of_cell_ram) >> i & 1) ||
		      *(u64 *)(fake_ram + resources[i]) != WRITTEN);
}
