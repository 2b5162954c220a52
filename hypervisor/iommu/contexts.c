// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of the functions of a bus. Where Linux uses no tables, all share the monitor's table.
 *
 * Where Linux translates addresses of devices (level `devices`), its tables are used. Its table of
 * contexts serves a bus directly, so a device that Linux attaches later works at once: no request
 * announces it. A bus with functions of cells, or with some that Linux leaves untranslated, has a
 * copy in the monitor, which is brought up to date when Linux has changed contexts or interrupts,
 * and each second. Linux's tables are trusted, so a hostile Linux can still make its devices write
 * everywhere.
 *
 * Where the units nest (level `full`), each bus has a copy. A function has an entry of a PASID in
 * the monitor, by which Linux's table of the first stage is used; but all addresses that it yields
 * pass the monitor's table, and so do the addresses of Linux's tables: no trust is needed. Since
 * accesses without a PASID may use any PASID (RID_PASID), all functions share one directory, where
 * the PASID is the function's number. No function can name a PASID itself (PASIDE is 0).
 */
#include "core/cpu.h"
#include "core/gmem.h"
#include "tables/nested.h"
#include "iommu/iommu.h"
#include "iommu/vtd.h"

#define CHUNK		32			/* words that are copied at once */
#define TYPE(low)	((low) >> 2 & 3)
#define IDENTITY	2			/* type: addresses are not translated */
#define LOW		(PT_ADDR | 3)		/* table, present, "log no faults" */
#define DOMAIN(high)	((high) >> 8 & 0xffff)
#define HIGH		(CONTEXT_DOMAIN(0xffff) | 7)

/* Words of an entry. A table has PT_ENTRIES words, for a bus or (scalable mode) half a bus */
static u32 words(void)
{
	return me()->boot.iommus.stage ? 4 : 2;
}

/* The word of the root table for the function */
static u32 root_word(u32 bdf)
{
	return bdf * words() / PT_ENTRIES * 4 / words();
}

static u64 *root_of(const struct iommu_unit *u, u32 bdf)
{
	return pt_table(&me()->pt_pool, u->root) + root_word(bdf);
}

/* The bus has a table in the monitor */
static u64 *contexts_entry(const struct iommu_unit *u, u32 bdf)
{
	return pt_table(&me()->pt_pool, *root_of(u, bdf) & PT_ADDR) + bdf * words() % PT_ENTRIES;
}

/* True for the monitor's table. Linux's tables are elsewhere: linux_table() */
static bool is_own(u64 table)
{
	return table - me()->pt_pool.pa < me()->pt_pool.end;
}

/* Turns a word of the root table of Linux into one of the monitor. 0: it names no table of Linux */
static u64 linux_table(u64 word)
{
	return word & CONTEXT_PRESENT && !is_own(word & PT_ADDR) ? word & (PT_ADDR | 1) : 0;
}

/*
 * Copies from a table of Linux. A table that is no RAM, or in memory that Linux has lost, has
 * zeros: registers of a device may not be read, since that may take long and have effects
 */
static void copy(struct pcpu *cpu, u64 table, u32 offset, u64 *to, u32 len)
{
	u64 page = table & PT_ADDR;

	if (!table || !ram_has(&me()->boot, page, QV_PAGE, true) ||
	    !guest_copy_phys(cpu, to, page + offset, len))
		memset(to, 0, len);
}

static u64 linux_contexts(struct pcpu *cpu, struct iommu_unit *u, u32 bdf)
{
	u64 word;

	copy(cpu, u->linux_root, 8 * root_word(bdf), &word, 8);
	return linux_table(word);
}

/* Units that nest: the monitor's entry of the function's PASID. NULL: the pool is empty */
static u64 *own_pasid(u32 bdf)
{
	u64 *word = pt_table(&me()->pt_pool, me()->iommu.pasids) + bdf / PASIDS, table;

	if (!*word) {		/* an entry is written back before a context names it */
		table = pt_take(&me()->pt_pool);
		if (!table)
			return NULL;
		table_store(word, table | CONTEXT_PRESENT);
	}
	return pt_table(&me()->pt_pool, *word & PT_ADDR) + bdf % PASIDS * PT_ENTRIES / PASIDS;
}

/*
 * The unit nests Linux's table of the function in the monitor's table, if Linux's entry is of the
 * first stage. Only the number and the table come from Linux, so a unit that reads an entry which
 * changes still nests a table of Linux.
 */
static void nest(u32 bdf, const u64 *pasid, u64 *entry)
{
	u64 low = PASID_STAGE(3) | PASID_LEVELS4 | me()->iommu.table.root, *own;

	own = PASID_KIND(pasid[0]) == PASID_STAGE(1) ? own_pasid(bdf) : NULL;
	entry[0] = own ? me()->iommu.pasids | CONTEXT_PASIDS | CONTEXT_PRESENT : 0;
	entry[1] = own ? bdf : 0;
	if (own) {
		table_store(own + 2, pasid[2]);
		table_write(own, low, pasid[1] & PASID_HIGH);
	}
}

/*
 * Turns Linux's entry into one of the monitor. No device of Linux gets the number of a cell.
 * Returns true if Linux leaves the function untranslated.
 */
static bool adapt(struct pcpu *cpu, u32 bdf, u64 *entry)
{
	bool identity = TYPE(entry[0]) == IDENTITY, present = entry[0] & CONTEXT_PRESENT;
	u64 domain = DOMAIN(entry[1]), pasid[PASID_LEN / 8] = { 0 };

	if (me()->boot.iommus.stage && present) {
		/* from the directory the table, and from that the entry of PASID 0 */
		copy(cpu, entry[0], 0, pasid, PASID_LEN);
		copy(cpu, pasid[0] & CONTEXT_PRESENT ? pasid[0] : 0, 0, pasid, PASID_LEN);
		identity = PASID_KIND(pasid[0]) == PASID_STAGE(PASID_IDENTITY);
		domain = pasid[1] & 0xffff;
	}
	if (present && identity) {
		memcpy(entry, pt_table(&me()->pt_pool, me()->iommu.contexts), 16);
		return true;
	}
	if (!present || domain >= me()->boot.iommus.domain) {
		entry[0] = entry[1] = 0;
	} else if (me()->boot.iommus.nested) {
		nest(bdf, pasid, entry);
	} else {
		entry[0] &= LOW;
		entry[1] &= me()->boot.iommus.stage ? 0 : HIGH;
	}
	return false;
}

/* Writes the entry in one step, unless the part dma takes the function for a cell meanwhile */
static void replace(u64 *at, const u64 *entry)
{
	u64 low = __atomic_load_n(&at[0], __ATOMIC_ACQUIRE);
	u64 high = __atomic_load_n(&at[1], __ATOMIC_ACQUIRE);

	if (!(me()->boot.iommus.stage ? low & CONTEXT_CELL_PASIDS : high & CONTEXT_CELL))
		table_exchange(at, low, high, entry[0], entry[1]);
}

/*
 * Fills the monitor's table @to of contexts, if any, from Linux's table @from, or 0, whose first
 * function is @bdf. Returns true if Linux leaves a function untranslated.
 */
static bool follow(struct pcpu *cpu, u32 bdf, u64 from, u64 *to)
{
	u64 entries[CHUNK];
	bool identity = false;
	u32 i, j;

	for (i = 0; (from || to) && i < PT_ENTRIES; i += CHUNK) {
		copy(cpu, from, 8 * i, entries, sizeof(entries));
		for (j = 0; j < CHUNK; j += words()) {
			identity |= adapt(cpu, bdf + (i + j) / words(), entries + j);
			if (to)
				replace(to + i + j, entries + j);
		}
	}
	return identity;
}

/* Follows a bus for which Linux has the @table, or 0. Returns false if the pool is empty */
static bool follow_bus(struct pcpu *cpu, struct iommu_unit *u, u32 bdf, u64 table)
{
	u64 *root = root_of(u, bdf);

	if (is_own(*root & PT_ADDR))
		follow(cpu, bdf, table, pt_table(&me()->pt_pool, *root & PT_ADDR));
	else if (me()->boot.iommus.nested && table)
		return contexts_own(cpu, u, bdf);
	else if (*root != table)
		table_store(root, table);
	return true;
}

void contexts_follow(struct pcpu *cpu, struct iommu_unit *u)
{
	u64 entries[CHUNK];
	u32 i;

	for (i = 0; u->translated && i < PT_ENTRIES; i += 4 / words()) {
		if (!(i % CHUNK))
			copy(cpu, u->linux_root, 8 * i, entries, sizeof(entries));
		follow_bus(cpu, u, i * PT_ENTRIES / 4, linux_table(entries[i % CHUNK]));
	}
}

bool contexts_own(struct pcpu *cpu, struct iommu_unit *u, u32 bdf)
{
	u64 *root = root_of(u, bdf), fresh, *to;

	if (is_own(*root & PT_ADDR) && (*root & PT_ADDR) != me()->iommu.contexts)
		return true;
	fresh = pt_take(&me()->pt_pool);
	if (!fresh)
		return false;
	to = pt_table(&me()->pt_pool, fresh);
	if (u->translated)
		follow(cpu, bdf - bdf % (PT_ENTRIES / words()), linux_contexts(cpu, u, bdf), to);
	else
		memcpy(to, pt_table(&me()->pt_pool, me()->iommu.contexts), QV_PAGE);
	table_write_back(to, QV_PAGE);
	table_store(root, fresh | CONTEXT_PRESENT);
	return true;
}

void contexts_set(struct pcpu *cpu, struct iommu_unit *u, u32 bdf, u64 root, u32 domain)
{
	const u64 *shared = pt_table(&me()->pt_pool, me()->iommu.contexts);
	u64 low = root ? root | CONTEXT_PRESENT : 0, *at = contexts_entry(u, bdf);
	u64 high = root ? CONTEXT_LEVELS4 | CONTEXT_DOMAIN(domain) : 0;

	if (domain == me()->boot.iommus.domain)	/* absent until Linux's table is followed again */
		table_write(at, u->translated ? 0 : shared[0], u->translated ? 0 : shared[1]);
	else if (me()->boot.iommus.stage)
		table_write(at, low | CONTEXT_CELL_PASIDS, 0);
	else
		table_write(at, low, high | CONTEXT_CELL);
}

bool contexts_begin(struct pcpu *cpu, struct iommu_unit *u, u32 bdf)
{
	u64 table = u->translated ? linux_contexts(cpu, u, bdf) : 0;

	if (!me()->boot.iommus.nested && follow(cpu, bdf, table, NULL) &&
	    !contexts_own(cpu, u, bdf))
		return false;
	return !u->translated || follow_bus(cpu, u, bdf, table);
}
