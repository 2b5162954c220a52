// SPDX-License-Identifier: GPL-2.0-only
/*
 * The front end's nested tables at the start: identity, except for the monitor's own block. The
 * module compiles this file as well. It runs before any CPU is under the monitor.
 */
#include "core/instance.h"
#include "core/x86.h"
#include "tables/setup.h"
#include "tables/nested.h"

/* Maps RAM and devices below 4 GiB now, so that Linux's first touches need no exits later */
static void map_known(const struct paging *n)
{
	u64 pa = 0, top = 1ull << 32;
	u32 i, level;

	for (i = 0; i < n->ram->num_ram && i < QV_MON_RAM_RANGES; i++)
		if (n->ram->ram[i].end > top)
			top = n->ram->ram[i].end;
	while (pa < top) {
		front_fill(n, pa);
		paging_find(n, pa, 1, &level);
		pa = (pa & ~(level_size(level) - 1)) + level_size(level);
	}
}

/* Makes the pages that answer touches of holes: ones for reads, a sink for writes. 0 or -1 */
static int answers(struct instance *inst)
{
	const struct pt_pool *pool = &inst->pt_pool;
	u64 *ones, *sink, *page, ones_page, sink_page;
	u32 i;

	inst->front.ones_table = pt_take(&inst->pt_pool);
	inst->front.sink_table = pt_take(&inst->pt_pool);
	ones_page = pt_take(&inst->pt_pool);
	sink_page = pt_take(&inst->pt_pool);
	if (!sink_page)
		return -1;
	ones = pt_table(pool, inst->front.ones_table);
	sink = pt_table(pool, inst->front.sink_table);
	page = pt_table(pool, ones_page);
	for (i = 0; i < 512; i++) {
		ones[i] = ones_page | nested_bits(&inst->nested, NESTED_RX | NESTED_WB);
		sink[i] = sink_page | nested_bits(&inst->nested, NESTED_RWX | NESTED_WB);
		page[i] = ~0ull;
	}
	return 0;
}

static int limit(const struct paging *n, u64 pa, u64 len, enum linux_access access)
{
	if (front_prepare(n, pa, len))
		return -1;
	front_set(n, pa, len, access);
	return 0;
}

static int hide_block(struct instance *inst)
{
	const struct qv_mon_boot *b = &inst->boot;
	const struct paging *n = &inst->nested;
	u32 i;

	if (limit(n, b->block_pa, b->block_len, LINUX_NONE))
		return -1;
	for (i = 0; i < QV_INSTANCES; i++) {
		inst->manager.cells[i].open_table = pt_take(&inst->pt_pool);
		if (!inst->manager.cells[i].open_table)
			return -1;
	}
	front_split(n, b->block_pa, inst->manager.cells[0].open_table);
	front_set(n, b->block_pa, QV_OPEN_LEN, LINUX_READ);
	return 0;
}

#define IOAPICS		0xfec00000ull	/* IOAPICs of chipsets are here, listed by ACPI or not */
#define IOAPICS_LEN	(1u << 20)

/* Each access to an IOAPIC exits (front/ioapic.c); an IOAPIC that ACPI does not list gets none */
static int hide_ioapics(struct instance *inst)
{
	const struct qv_mon_boot *b = &inst->boot;
	u32 i;

	if (b->num_ioapics && limit(&inst->nested, IOAPICS, IOAPICS_LEN, LINUX_NONE))
		return -1;
	for (i = 0; i < b->num_ioapics && i < QV_MON_IOAPICS; i++)
		if (limit(&inst->nested, b->ioapics[i], QV_PAGE, LINUX_NONE))
			return -1;
	return 0;
}

int identity_tables(struct instance *inst)
{
	const struct qv_mon_boot *b = &inst->boot;
	struct paging *n = &inst->nested;

	n->ram = b;
	n->max_leaf = b->page1g ? 3 : 2;
	if (answers(inst) || hide_block(inst))
		return -1;
	map_known(n);
	if (hide_ioapics(inst))
		return -1;
	/* A device's write here is an interrupt. A processor's write must not become one */
	if (limit(n, MESSAGES, MESSAGES_LEN, LINUX_NONE))
		return -1;
	/* The xAPIC page: reads are direct. Writes exit, unless IPIs are direct */
	inst->front.ipi_direct = b->ipi_direct;
	return b->x2apic ? 0 : limit(n, MESSAGES, QV_PAGE, b->ipi_direct ? LINUX_ALL : LINUX_READ);
}
