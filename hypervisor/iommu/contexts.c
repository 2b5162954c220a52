// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of the functions of a bus. Where Linux uses no tables, all share the monitor's table.
 *
 * Where Linux translates addresses of devices (level `devices`), its tables are used. Its table of
 * contexts serves a bus directly, so a device that Linux attaches later works at once: no request
 * announces it. A bus with functions of cells, or with some that Linux leaves untranslated, has a
 * copy in the monitor, which is brought up to date at each of Linux's requests. Linux's tables are
 * trusted, so a hostile Linux can still make its devices write everywhere.
 */
#include "core/cpu.h"
#include "core/gmem.h"
#include "iommu/iommu.h"
#include "iommu/vtd.h"

#define CHUNK		16			/* entries that are copied at once */
#define TYPE(low)	((low) >> 2 & 3)
#define IDENTITY	2			/* type: addresses are not translated */
#define LOW		(PT_ADDR | 3)		/* table, present, "log no faults" */
#define DOMAIN(high)	((high) >> 8 & 0xffff)
#define HIGH		(CONTEXT_DOMAIN(0xffff) | 7)

static u64 *root_of(const struct iommu_unit *u, u32 bus)
{
	return pt_table(&me()->pt_pool, u->root) + 2 * bus;
}

u64 *contexts_entry(const struct iommu_unit *u, u32 bdf)
{
	return pt_table(&me()->pt_pool, *root_of(u, bdf >> 8) & PT_ADDR) + 2 * (bdf & 0xff);
}

/* True for the monitor's table. Linux's tables are elsewhere: linux_table() */
static bool is_own(u64 table)
{
	return table - me()->pt_pool.pa < me()->pt_pool.end;
}

/* Returns the table of contexts that an entry of Linux's root table names, or 0 */
static u64 linux_table(u64 entry)
{
	return entry & CONTEXT_PRESENT && !is_own(entry & PT_ADDR) ? entry & PT_ADDR : 0;
}

/* Copies entries of a table of Linux. In memory that Linux has lost, all are absent */
static void copy(struct pcpu *cpu, u64 table, u32 first, u64 *entries)
{
	if (!table || !guest_copy_phys(cpu, entries, table + 16 * first, 16 * CHUNK))
		memset(entries, 0, 16 * CHUNK);
}

static u64 linux_contexts(struct pcpu *cpu, struct iommu_unit *u, u32 bus)
{
	u64 entries[2 * CHUNK];

	copy(cpu, u->linux_root, bus & ~(CHUNK - 1u), entries);
	return linux_table(entries[bus % CHUNK * 2]);
}

/* Turns Linux's entry into one of the monitor. No device of Linux gets the number of a cell */
static void adapt(u64 *entry)
{
	u32 first = me()->boot.iommus.domain;

	if (!(entry[0] & CONTEXT_PRESENT)) {
		entry[0] = entry[1] = 0;
	} else if (TYPE(entry[0]) == IDENTITY) {
		entry[0] = me()->iommu.table.root | CONTEXT_PRESENT;
		entry[1] = CONTEXT_LEVELS4 | CONTEXT_DOMAIN(first);
	} else {
		entry[0] = DOMAIN(entry[1]) < first ? entry[0] & LOW : 0;
		entry[1] &= HIGH;
	}
}

/* Writes the entry in one step, unless the part dma takes the function for a cell meanwhile */
static void replace(u64 *at, const u64 *entry)
{
	u64 low = __atomic_load_n(&at[0], __ATOMIC_ACQUIRE);
	u64 high = __atomic_load_n(&at[1], __ATOMIC_ACQUIRE);

	if (!(high & CONTEXT_CELL))
		table_exchange(at, low, high, entry[0], entry[1]);
}

/* Fills the monitor's table @to of a bus. @from: Linux's table, or 0 */
static void follow_bus(struct pcpu *cpu, u64 from, u64 *to)
{
	u64 entries[2 * CHUNK];
	u32 i, j;

	for (i = 0; i < 256; i += CHUNK) {
		copy(cpu, from, i, entries);
		for (j = 0; j < CHUNK; j++) {
			adapt(entries + 2 * j);
			replace(to + 2 * (i + j), entries + 2 * j);
		}
	}
}

void contexts_follow(struct pcpu *cpu, struct iommu_unit *u)
{
	u64 entries[2 * CHUNK], *root, table;
	u32 bus;

	for (bus = 0; u->translated && bus < 256; bus++) {
		if (!(bus % CHUNK))
			copy(cpu, u->linux_root, bus, entries);
		table = linux_table(entries[bus % CHUNK * 2]);
		root = root_of(u, bus);
		if (is_own(*root & PT_ADDR)) {
			follow_bus(cpu, table, contexts_entry(u, bus << 8));
		} else if (*root != (table ? table | CONTEXT_PRESENT : 0)) {
			__atomic_store_n(root, table ? table | CONTEXT_PRESENT : 0,
					 __ATOMIC_RELEASE);
			table_write_back(root, 8);
		}
	}
}

bool contexts_own(struct pcpu *cpu, struct iommu_unit *u, u32 bdf)
{
	u64 *root = root_of(u, bdf >> 8), fresh, *to;

	if (is_own(*root & PT_ADDR) && (*root & PT_ADDR) != me()->iommu.contexts)
		return true;
	fresh = pt_take(&me()->pt_pool);
	if (!fresh)
		return false;
	to = pt_table(&me()->pt_pool, fresh);
	if (u->translated)
		follow_bus(cpu, linux_contexts(cpu, u, bdf >> 8), to);
	else
		memcpy(to, pt_table(&me()->pt_pool, me()->iommu.contexts), QV_PAGE);
	table_write_back(to, QV_PAGE);
	__atomic_store_n(root, fresh | CONTEXT_PRESENT, __ATOMIC_RELEASE);
	table_write_back(root, 8);
	return true;
}

void contexts_set(struct iommu_unit *u, u32 bdf, u64 root, u32 domain)
{
	table_write(contexts_entry(u, bdf), root ? root | CONTEXT_PRESENT : 0, CONTEXT_CELL |
		    (root ? CONTEXT_LEVELS4 | CONTEXT_DOMAIN(domain) : 0));
}

void contexts_give(struct pcpu *cpu, struct iommu_unit *u, u32 bdf)
{
	static const u64 absent[2];	/* until Linux's table is followed again */
	const u64 *entry = u->translated ? absent :
			   pt_table(&me()->pt_pool, me()->iommu.contexts);

	table_write(contexts_entry(u, bdf), entry[0], entry[1]);
}

static bool has_identity(struct pcpu *cpu, u64 table)
{
	u64 entries[2 * CHUNK];
	u32 i;

	for (i = 0; i < 256; i++) {
		if (!(i % CHUNK))
			copy(cpu, table, i, entries);
		if ((entries[i % CHUNK * 2] & CONTEXT_PRESENT) &&
		    TYPE(entries[i % CHUNK * 2]) == IDENTITY)
			return true;
	}
	return false;
}

bool contexts_begin(struct pcpu *cpu, struct iommu_unit *u)
{
	u32 bus;

	for (bus = 0; u->translated && bus < 256; bus++)
		if (has_identity(cpu, linux_contexts(cpu, u, bus)) &&
		    !contexts_own(cpu, u, bus << 8))
			return false;
	contexts_follow(cpu, u);
	return true;
}
