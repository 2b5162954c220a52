// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: no table of addresses leads a device to memory that its owner does not have. Devices of
 *	Linux reach by identity all but registers of devices and of units (case 1); a page of 2 MiB
 *	closes when Linux loses a part of it, and opens when Linux gets all of it (case 2). A device
 *	of a cell reaches the cell's RAM at the cell's addresses, but not its console and info pages
 *	(case 3). With any entry of AMD-Vi that Linux writes, its device uses the monitor's table,
 *	or where Linux translates, Linux's table, with no number of a cell; the entry of a cell's
 *	device does not change (case 4)
 * Bound: 2 holes, a unit and RAM in 2 pieces, in 16 pages; changes of up to 4 MiB in 64 MiB; a
 *	cell of 3 runs; any entry
 * Assumed: paging_map() and paging_find() are right (see prove_front.c); a request's runs are RAM
 *	of Linux, listed once (see prove_request.c); holes and registers are whole pages; memory
 *	leaves Linux and returns through linux_memory()
 * Enough: the watched address is any address, so a claim for it is a claim for all; each hole, run
 *	and page is treated alike, and separately; addresses are only compared, and the ends of all
 *	pieces may lie in any order
 * Options: --unwind 9 --unwindset map_all.0:6 --object-bits 12
 * Cases: 1 2 3 4
 * Changed: hypervisor/abi/iommu.h: `#define QV_MON_IOMMUS		8` ->
 *	`#define QV_MON_IOMMUS		1`: units
 * Changed: hypervisor/abi/iommu.h: `#define QV_MON_IO_HOLES		64` ->
 *	`#define QV_MON_IO_HOLES		2`: holes
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_RAM_RANGES	64` ->
 *	`#define QV_MON_RAM_RANGES	2`: ranges of RAM
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_RUNS		1024` ->
 *	`#define QV_MON_RUNS		3`: runs
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_CPUS	64` ->
 *	`#define QV_MAX_CPUS	2`: not used by the proof
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_CELLS	15` ->
 *	`#define QV_MAX_CELLS	1`: not used by the proof
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_PORTS	16` ->
 *	`#define QV_MAX_PORTS	1`: not used by the proof
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_DEVICES	8` ->
 *	`#define QV_MAX_DEVICES	1`: not used by the proof
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_CHANNELS	16` ->
 *	`#define QV_MAX_CHANNELS	1`: not used by the proof
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_WITH	8` ->
 *	`#define QV_MAX_WITH	1`: not used by the proof
 * Changed: include/qv/channel.h: `#define QV_CHAN_MAX_ENDS	9u` ->
 *	`#define QV_CHAN_MAX_ENDS	2u`: not used by the proof
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_CHANNELS		32` ->
 *	`#define QV_MON_CHANNELS		1`: not used by the proof
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_GUARDS		16` ->
 *	`#define QV_MON_GUARDS		1`: not used by the proof
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_FIRMWARE_PORTS	16` ->
 *	`#define QV_MON_FIRMWARE_PORTS	1`: not used by the proof
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_IOAPICS		16` ->
 *	`#define QV_MON_IOAPICS		1`: not used by the proof
 * Changed: hypervisor/core/instance.h: `return (struct instance *)(QV_VA_BLOCK + QV_OFF_INSTANCE);`
 *	-> `extern struct instance the_instance; return &the_instance;`: the instance of the proof
 * Changed: hypervisor/manage/mapping.h:
 *	`return (struct instance *)(QV_VA_MANAGE + QV_OFF_INSTANCE);` ->
 *	`extern struct instance the_cell; return &the_cell;`: the cell's instance
 * Changed: hypervisor/iommu/iommu.h: `*end = line + len;` -> `*end = line;`: no caches
 * Changed: hypervisor/iommu/iommu.h: `for (; line < end; line += 64)` -> `for (; 0; line = end)`:
 *	the same
 * Changed: driver/cross/iommu_tables.c: `u64 top = 1ull << 32;` -> `u64 top = 8 * QV_PAGE;`: the
 *	lowest end of the table
 * Changed: hypervisor/iommu/iommu.h: `asm volatile("lock cmpxchg16b %0"` ->
 *	`extern bool a_exchange(u64 *at, u64 old_low, u64 old_high, u64 low, u64 high);
 *	done = a_exchange(at, old_low, old_high, low, high); if (0) asm volatile("nop"`: an exchange
 *	that may fail
 * Changed: hypervisor/iommu/iommu.h: `		     : "+m"(*(u64 (*)[2])at), "+a"(old_low),` ->
 *	`		     : "+m"(*(u64 *)at), "+a"(old_low),`: not used
 * Mutation: driver/cross/iommu_tables.c: `if (end > pa && start < next->start)` ->
 *	`if (start >= pa && start < next->start)`: of two holes that overlap, a part is mapped (case
 *	1)
 * Mutation: driver/cross/iommu_tables.c: `i < iommus->num && i < QV_MON_IOMMUS` -> `0`: devices
 *	program the units (case 1)
 * Mutation: driver/cross/iommu_tables.c: `paging_map(io, pa, pa, hole.start - pa, open)` ->
 *	`paging_map(io, pa, pa, hole.end - pa, open)`: holes are mapped (case 1)
 * Mutation: hypervisor/iommu/table.c: `(all && !inside)` -> `0`: a page opens that Linux has a part
 *	of (case 2)
 * Mutation: hypervisor/iommu/table.c: `pa & ~(QV_HUGE - 1ull)` -> `pa`: the page around the start
 *	does not close (case 2)
 * Mutation: hypervisor/iommu/table.c: `ram_has(b, at, QV_HUGE, all)` -> `ram_has(b, at, QV_HUGE,
 *	false)`: a page opens that is not all RAM (case 2)
 * Mutation: hypervisor/iommu/cell.c: `bad |= paging_map(&io, SPECIAL, 0, SPECIAL_LEN, 0);` -> ``:
 *	a device writes the info page (case 3)
 * Mutation: hypervisor/iommu/cell.c: `gpa += q->runs[i].count * QV_HUGE;` -> `gpa += QV_HUGE;`: the
 *	runs overlap (case 3)
 * Mutation: hypervisor/iommu/cell.c: `gpa, q->runs[i].pa,` -> `gpa, gpa,`: a device of a cell gets
 *	memory of Linux (case 3)
 * Mutation: hypervisor/iommu/amdvi_table.c: `if (DTE_DOMAIN(entry[1]) < first)` -> `if (1)`: a
 *	device of Linux gets the number of a cell (case 4)
 * Mutation: hypervisor/iommu/amdvi_table.c: `valid && mode && u->translated` -> `valid && mode`: a
 *	table of Linux is used though Linux does not translate (case 4)
 * Mutation: hypervisor/iommu/amdvi_table.c: `entry[0] &= DTE_LOW;` -> ``: reserved bits reach the
 *	unit (case 4)
 * Mutation: hypervisor/iommu/amdvi_table.c: `if (!is_cells(high))` -> `if (1)`: Linux takes the
 *	device of a cell (case 4)
 */
#include "iommu/table.c"
#include "cross/iommu_tables.c"
#include "iommu/cell.c"
#include "iommu/amdvi_table.c"
#include "prove.h"

#define SPACE	(32u * QV_HUGE)

struct instance the_instance, the_cell;
static u64 watched;			/* any address */

/* ---- the watched address in the tables ---- */

static bool mapped;
static u64 target, target_flags;

int paging_map(const struct paging *p, u64 addr, u64 pa, u64 len, u64 flags)
{
	(void)p;
	PROVE(!(addr % QV_PAGE) && !(len % QV_PAGE) && len, "whole pages");
	if (watched >= addr && watched - addr < len) {
		mapped = flags & 3;
		target = pa + (watched - addr);
		target_flags = flags;
	}
	return any_bool() ? 0 : -1;
}

static u64 entry_of_page;		/* of the watched page of 2 MiB */

u64 *paging_find(const struct paging *p, u64 addr, u32 level, u32 *found)
{
	static u64 other;

	(void)p;
	PROVE(level == 2 && !(addr % QV_HUGE), "a page of 2 MiB");
	*found = 2;
	return addr == (watched & ~(QV_HUGE - 1ull)) ? &entry_of_page : &other;
}

u64 pt_take(struct pt_pool *pool)
{
	(void)pool;
	return any_u64() & PT_ADDR;
}

/* ---- case 1: the first table of Linux's devices ---- */

static u64 any_page(void)
{
	return any_u32() % 16 * QV_PAGE;
}

static void a_machine(void)
{
	struct qv_mon_boot *b = &the_instance.boot;
	u32 i;

	b->num_ram = any_u32() % 3;
	b->iommus.num_dma_holes = any_u32() % 3;
	b->iommus.num = any_bool();
	b->iommus.units[0].pa = any_page();
	b->iommus.units[0].len = any_page();
	ASSUME(b->iommus.units[0].len);
	for (i = 0; i < 2; i++) {
		b->ram[i].end = any_page();
		b->iommus.dma_holes[i].start = any_page();
		b->iommus.dma_holes[i].end = any_page();
		ASSUME(b->iommus.dma_holes[i].start < b->iommus.dma_holes[i].end);
	}
}

static bool in_hole(const struct qv_mon_iommus *all, u64 pa)
{
	bool in = false;
	u32 i;

	for (i = 0; i < 2; i++)
		in |= i < all->num_dma_holes && pa >= all->dma_holes[i].start &&
		      pa < all->dma_holes[i].end;
	return in || (all->num && pa - all->units[0].pa < all->units[0].len);
}

static void a_first_table(void)
{
	struct paging io = { .levels = 4 };
	u64 open = any_u64() | 3;
	bool done;

	watched %= 32 * QV_PAGE;
	a_machine();
	done = !map_all(&io, &the_instance.boot, open);
	PROVE(!mapped || (target == watched && target_flags == open), "by identity");
	PROVE(!mapped || !in_hole(&the_instance.boot.iommus, watched), "no register");
	PROVE(!done || mapped || in_hole(&the_instance.boot.iommus, watched) ||
	      watched >= top_of(&the_instance.boot), "all else, up to the end of RAM");
}

/* ---- case 2: memory leaves Linux and returns ---- */

static void a_change(void)
{
	struct qv_mon_boot *b = &the_instance.boot;
	u64 pa = any_u32() % SPACE, len = any_u32() % (2 * QV_HUGE), end = pa + len, page;
	bool all = any_bool(), linux_has_all = any_bool(), ram = false;
	u32 i;

	watched %= SPACE;
	page = watched & ~(QV_HUGE - 1ull);
	b->iommus.num = 1;
	b->num_ram = any_u32() % 3;
	the_instance.iommu.open = any_u64() & ~PT_ADDR & ~PT_PS;
	for (i = 0; i < 2; i++) {
		b->ram[i].start = any_u32() % SPACE;
		b->ram[i].end = any_u32() % SPACE;
		ASSUME(b->ram[i].start < b->ram[i].end);
		ram |= i < b->num_ram && page >= b->ram[i].start && page + QV_HUGE <= b->ram[i].end;
	}
	entry_of_page = any_bool() ? page | the_instance.iommu.open | PT_PS : 0;
	ASSUME(!entry_of_page || (linux_has_all && ram));
	/* the change */
	if (all && pa <= page && end >= page + QV_HUGE)
		linux_has_all = true;
	if (!all && len && pa < page + QV_HUGE && end > page)
		linux_has_all = false;
	iommu_follow(&the_instance, pa, len, all);
	PROVE(!entry_of_page || (linux_has_all && ram), "a page that Linux lacks is closed");
	PROVE(!entry_of_page || entry_of_page == (page | the_instance.iommu.open | PT_PS),
	      "an open page is mapped by identity");
}

/* ---- case 3: the table of a cell's devices ---- */

static bool in_cell(const struct qv_mon_create *q, u64 *pa)
{
	u64 left = watched;
	u32 i;

	for (i = 0; i < q->num_runs; i++) {
		if (left < q->runs[i].count * (u64)QV_HUGE) {
			*pa = q->runs[i].pa + left;
			return true;
		}
		left -= q->runs[i].count * (u64)QV_HUGE;
	}
	return false;
}

static void a_cell(void)
{
	struct qv_mon_create *q = &the_cell.req;
	struct pcpu cpu = { 0 };
	bool special = watched >= 0xb8000 && watched < 0xc0000;
	u64 pa = 0;
	u32 i;

	q->num_runs = any_u32() % 4;
	q->num_devices = 1;
	for (i = 0; i < 3; i++) {
		q->runs[i].pa = any_u64() & (1ull << 48) - QV_HUGE;
		q->runs[i].count = any_u32() & 0xffff;
		ASSUME(q->runs[i].count);
	}
	the_instance.iommu.owned = any_bool();
	the_instance.iommu.open = any_u64() | 3;
	if (part_dma.try[PART_MAP](&cpu, &the_instance, q) != QV_ME_OK)
		return;				/* there is no cell */
	PROVE(!mapped || (the_instance.iommu.owned && in_cell(q, &pa) && target == pa),
	      "the cell's RAM, at the cell's address");
	PROVE(!mapped || !special, "no page that CPUs of the cell may only read");
	PROVE(mapped || special || !the_instance.iommu.owned || !in_cell(q, &pa), "all of it");
}

/* ---- case 4: AMD-Vi's entry of a device ---- */

static u64 own_entry[4], linux_entry[4];
static bool exchanged;

u64 *pt_table(const struct pt_pool *pool, u64 pa)
{
	(void)pool, (void)pa;
	return own_entry;
}

bool guest_copy_phys(struct pcpu *cpu, void *to, u64 gpa, u32 len)
{
	u32 i;

	(void)cpu, (void)gpa;
	for (i = 0; i < 4 && len == sizeof(linux_entry); i++)
		((u64 *)to)[i] = linux_entry[i];
	return any_bool();
}

/* The part dma may take the device for a cell meanwhile */
bool a_exchange(u64 *at, u64 old_low, u64 old_high, u64 low, u64 high)
{
	PROVE(at == own_entry, "the device's entry");
	if (at[0] != old_low || at[1] != old_high || any_bool())
		return false;
	at[0] = low;
	at[1] = high;
	exchanged = true;
	return true;
}

static void a_device(void)
{
	struct iommu_unit *u = &the_instance.iommu.units[0];
	u64 own = the_instance.iommu.table.root = any_u64() & PT_ADDR;
	u32 first = the_instance.boot.iommus.domain = any_u32(), i;
	struct pcpu cpu = { 0 };
	u64 old[2], root;

	ASSUME(first >= 1 && first <= 0xffff - QV_INSTANCES);
	u->translated = any_bool();
	for (i = 0; i < 4; i++) {
		linux_entry[i] = any_u64();
		own_entry[i] = any_u64();
	}
	ASSUME(!(linux_entry[2] & DTE_REMAP));		/* of interrupts: prove_irte.c */
	old[0] = own_entry[0];
	old[1] = own_entry[1];
	the_instance.iommu.devices = 1;
	amdvi_follow(&cpu, u, 0, 0, QV_MON_DEVICE_IRTES);
	if (own_entry[0] == old[0] && own_entry[1] == old[1])
		return;
	root = own_entry[0] & PT_ADDR;
	PROVE((old[1] & 0xffff) <= first, "the entry of a cell's device does not change");
	PROVE(own_entry[1] <= first, "no number of a cell");
	PROVE((own_entry[0] & 3) == 3 && !(own_entry[0] & ~DTE_LOW), "valid, no reserved bit");
	PROVE(root == own || (u->translated && root == (linux_entry[0] & PT_ADDR) &&
			      own_entry[1] < first && own_entry[1] == (linux_entry[1] & 0xffff)),
	      "the monitor's table, or Linux's where Linux translates");
	PROVE(root != own || own_entry[1] == first || own_entry[1] < first, "its own number");
	PROVE(!(own_entry[0] >> 61 & 3) || (linux_entry[0] & 3) != 3 || linux_entry[0] >> 61 & 3 ||
	      linux_entry[0] >> 9 & 7, "a device that Linux blocks is blocked");
}

int main(void)
{
	watched = any_u64() & ((1ull << 52) - 1);
	if (CASE == 1)
		a_first_table();
	else if (CASE == 2)
		a_change();
	else if (CASE == 3)
		a_cell();
	else
		a_device();
	return 0;
}
