// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: the front end's tables: a removed page is not mapped, every mapping is identity, open
 *	pages and config space are read-only. No operation undoes what an earlier one prepared. No
 *	access leaves the pool
 * Bound: any sequence of operations (induction: any sound state, then any one operation on any
 *	address); tables of 2 entries, 6 pages of pool, 3 levels, leaves at each
 * Assumed: config space is whole pages outside RAM. One CPU at a time (races:
 *	tests/unit/test_paging_race.c). As the manager does: a page is removed after
 *	front_prepare(); it is given back only if it is removed and all RAM; it is opened only if it
 *	is a hole and all RAM
 * Enough: an operation walks one path and adds to it; all entries of a table are treated alike; the
 *	watched page is any page, so a claim for it is a claim for all
 * Code: hypervisor/tables/paging.c hypervisor/tables/nested.c hypervisor/front/touch.c
 * Options: --unwind 7 --unwindset paging_find.0:3,paging_entry.0:3,walk.0:3
 * Seconds: 900
 * Cases: 0 1 2 3 4 5
 * Changed: hypervisor/tables/paging.h: `#define PT_BITS		9` ->
 *	`#define PT_BITS		1`: tables of 2 entries
 * Changed: hypervisor/tables/nested.c: `start >= 1u << 20` -> `start >= 1u << 13`: the first of 4
 *	pages of level 2
 * Changed: hypervisor/tables/paging.c: `return (u64 *)(size_t)(pool->va + (pa - pool->pa));` ->
 *	`extern u64 *table_at(u64); return table_at(pa - pool->pa);`: the pool of the proof
 * Changed: hypervisor/core/instance.h: `return (struct instance *)(QV_VA_BLOCK + QV_OFF_INSTANCE);`
 *	-> `extern struct instance the_instance; return &the_instance;`: the instance of the proof
 * Changed: hypervisor/core/instance.h:
 *	`return (struct qv_mon_status *)(QV_VA_BLOCK + QV_OFF_STATUS);` ->
 *	`extern struct qv_mon_status the_status; return &the_status;`: the status of the proof
 * Mutation: hypervisor/tables/nested.c: `access == LINUX_NONE ? NESTED_HOLE :` ->
 *	`access == LINUX_NONE ? 0 :`: a hole is filled again (case 2)
 * Mutation: hypervisor/tables/nested.c: `entries[i] = NESTED_HOLE;` -> `entries[i] = 0;`: the
 *	rest of a block is filled again (case 4)
 * Mutation: hypervisor/tables/nested.c: `own_page(p, pa & ~(level_size(level) - 1), level));`
 *	-> `own_page(p, pa & ~0xfffull, level));`: a large page begins at the wrong place (case
 *	0)
 * Mutation: hypervisor/tables/nested.c: `? NESTED_RX : NESTED_RWX` -> `? NESTED_RWX : NESTED_RWX`:
 *	Linux writes to config space (case 0)
 * Mutation: hypervisor/tables/nested.c: `			continue;` ->
 *	`			break;`: a large page goes beyond config space (case 0)
 * Mutation: hypervisor/tables/nested.c: `if (p->ram && ram_has(p->ram, pa, 1, true))` -> `if (1)`:
 *	a page of a device is cached (case 0)
 * Mutation: hypervisor/tables/paging.c: `leaf + i * level_size(level - 1)` -> `leaf`: a split large
 *	page maps one small page repeatedly (case 1)
 * Mutation: hypervisor/tables/paging.c: `off >= pool->end` -> `off > pool->end`: a page beyond the
 *	pool is taken (case 0)
 * Mutation: hypervisor/tables/nested.c: `pa < level_size(p->levels + 1)` -> `pa`: an address beyond
 *	the tables changes the entry of another address (case 0)
 * Mutation: hypervisor/front/touch.c: `entry_exchange(entry, seen, table | PT_TABLE);` ->
 *	`entry_exchange(entry, seen, 0);`: an access turns a hole into memory of Linux (case 5)
 */
#include "core/cpu.h"
#include "tables/nested.h"
#include "core/vendor.h"
#include "prove.h"

#define PAGES	6u			/* pages of the pool that may be tables */
/* physical address that the tables pretend to have, outside SPACE */
#define POOL_PA	0x7654000ull
#define OPEN_PAGES 1u			/* half of a table is open */
#define LEVELS	3u
#define SPACE	level_size(LEVELS + 1)	/* all addresses are below this limit */

/* pages of the pool; the pages after SINK have a level and a place */
enum { ROOT, ONES, SINK, FIRST };
#define ONES_PAGE	(POOL_PA + 100 * 4096)
#define SINK_PAGE	(POOL_PA + 101 * 4096)

struct instance the_instance;
struct qv_mon_status the_status;
static u64 tables[PAGES][PT_ENTRIES];
static u32 level_of[PAGES];
static u64 base_of[PAGES];
static struct qv_mon_boot ram;

u64 *table_at(u64 offset)
{
	PROVE(!(offset % 4096) && offset / 4096 < PAGES, "a table of the pool");
	return tables[offset / 4096];
}

void log_denied(const struct pcpu *cpu, u32 what, u64 a, u64 b)
{
	(void)cpu, (void)what, (void)a, (void)b;
}
void vendor_inject_fault(struct pcpu *cpu, u32 vector) { (void)cpu, (void)vector; }

/* ---- a sound state ---- */

static struct paging *p = &the_instance.nested;

/* Leaves of ONES and SINK, written without nested_bits(); 6 << 3: write-back (EPT) */
static u64 ones_leaf(void)
{
	return ONES_PAGE | 1 | 4 | (p->ept ? 6 << 3 : 0);
}

static u64 sink_leaf(void)
{
	return SINK_PAGE | 7 | (p->ept ? 6 << 3 : 0);
}

static u32 used(void)
{
	return the_instance.pt_pool.next / 4096;
}

static u64 place(u32 page, u32 i)
{
	return base_of[page] + i * level_size(level_of[page]);
}

/* True if entry @i of @page is empty, a hole, a leaf, or a table of the right level and place */
static bool sound_entry(u32 page, u32 i)
{
	u64 e = tables[page][i];
	u64 child = ((e & PT_ADDR) - POOL_PA) / 4096;
	u32 level = level_of[page];

	if (!(e & PT_P) || level == 1)
		return true;
	if (e & PT_PS)
		return level <= 3;
	if ((e & PT_ADDR) < POOL_PA || (e & PT_TABLE) != PT_TABLE || child >= PAGES)
		return false;
	if (level == 2 && (child == ONES || child == SINK))
		return true;
	return child >= FIRST && child < used() && level_of[child] == level - 1 &&
	       base_of[child] == place(page, i);
}

static bool sound_answers(u32 i)
{
	return tables[ONES][i] == ones_leaf() && tables[SINK][i] == sink_leaf();
}

static void any_state(void)
{
	u32 i, k;

	ram.num_ram = any_u32() % 3;
	ram.phys_bits = any_u32() % 53;
	for (i = 0; i < 2; i++)
		ram.ram[i].start = any_u64(), ram.ram[i].end = any_u64();
	ram.ecam_pa = any_u64();
	ram.ecam_len = any_u32();
	ASSUME(!(ram.ecam_pa % 4096) && !(ram.ecam_len % 4096) && ram.ecam_pa < SPACE);
	for (i = 0; i < 2; i++)
		ASSUME(ram.ram[i].start >= ram.ecam_pa + ram.ecam_len ||
		       ram.ram[i].end <= ram.ecam_pa);
	the_instance.pt_pool.pa = POOL_PA;
	the_instance.pt_pool.next = any_u32();
	the_instance.pt_pool.end = PAGES * 4096;
	the_instance.front.ones_table = POOL_PA + ONES * 4096;
	the_instance.front.sink_table = POOL_PA + SINK * 4096;
	*p = (struct paging){
		.pt_pool = &the_instance.pt_pool, .root = POOL_PA, .levels = LEVELS, .ram = &ram,
		.max_leaf = any_bool() ? 2 : 3, .ept = any_bool()
	};
	ASSUME(!(the_instance.pt_pool.next % 4096) && used() >= FIRST && used() <= PAGES);
	level_of[ROOT] = LEVELS;
	for (i = 0; i < PAGES; i++) {
		if (i >= FIRST)
			level_of[i] = any_u32(), base_of[i] = any_u64();
		ASSUME(i == ROOT || (level_of[i] >= 1 && level_of[i] < LEVELS) || i < FIRST);
		for (k = 0; k < PT_ENTRIES; k++)
			tables[i][k] = any_u64();
	}
	for (k = 0; k < PT_ENTRIES; k++) {
		ASSUME(sound_answers(k) && sound_entry(ROOT, k));
		for (i = FIRST; i < PAGES; i++)
			ASSUME(i >= used() || sound_entry(i, k));
	}
}

/* ---- the watched page: any page of level 2 ---- */

static enum { LINUX, HOLE, OPEN } owner;
static u64 watched;

struct end { u64 entry; u32 level, page; };

/* Walks the tables as the processor does (APM vol. 2, 5.3), down to @level. */
static struct end walk(u64 addr, u32 level)
{
	struct end end = { .page = ROOT };

	for (end.level = LEVELS; ; end.level--) {
		u32 shift = 12 + PT_BITS * (end.level - 1);

		end.entry = tables[end.page][addr >> shift & (PT_ENTRIES - 1)];
		if (end.level == level || !(end.entry & PT_P) || (end.entry & PT_PS))
			return end;
		end.page = ((end.entry & PT_ADDR) - POOL_PA) / 4096;
	}
}

/* True if the page is completely inside a range of RAM, or completely outside of all ranges */
static bool uniform(u64 start, u32 level)
{
	u64 end = start + level_size(level);
	u32 i;

	for (i = 0; i < ram.num_ram; i++)
		if (ram.ram[i].start < end && ram.ram[i].end > start &&
		    (start < ram.ram[i].start || end > ram.ram[i].end))
			return false;
	return true;
}

static bool in_ram(u64 start, u32 level)
{
	u32 i;

	for (i = 0; i < ram.num_ram; i++)
		if (ram.ram[i].start <= start && start + level_size(level) <= ram.ram[i].end)
			return true;
	return false;
}

static bool config(u64 addr)
{
	return addr >= ram.ecam_pa && addr < ram.ecam_pa + ram.ecam_len;
}

/* Returns true if only a part of the page is config space */
static bool over_edge(u64 start, u32 level)
{
	u64 edge[2] = { ram.ecam_pa, ram.ecam_pa + ram.ecam_len };
	u32 i;

	for (i = 0; i < 2; i++)
		if (ram.ecam_len && edge[i] > start && edge[i] < start + level_size(level))
			return true;
	return false;
}

static bool identity(u64 entry, u64 addr, u32 level)
{
	u64 type = 0;
	u32 i;

	if (over_edge(addr, level))
		return false;

	for (i = 0; i < ram.num_ram; i++)
		if (p->ept && addr >= ram.ram[i].start && addr < ram.ram[i].end)
			type = 6 << 3;		/* RAM is write-back; other memory is uncached */
	if (p->ept && level > 1 && !uniform(addr, level))
		return false;	/* the page would have one memory type for two kinds of memory */
	return entry == (addr | (config(addr) ? 5 : 7) | type | (level > 1 ? PT_PS : 0));
}

/* Checks the entry of a 4 KiB page in the watched page. */
static bool sound_page(u32 table, u32 i)
{
	u64 e = tables[table][i], pa = watched + i * 4096;

	if (owner == LINUX)
		return !e || identity(e, pa, 1);
	if (i < OPEN_PAGES)
		return e == (pa | 1 | 4 | (p->ept ? 6 << 3 : 0));
	return e == NESTED_HOLE || e == ones_leaf() || e == sink_leaf();
}

/* The induction hypothesis: the tables map the watched page as its owner allows. */
static bool sound_watched(void)
{
	struct end end = walk(watched, 2);
	u32 table = ((end.entry & PT_ADDR) - POOL_PA) / 4096, i;

	if (!(end.entry & PT_P))
		return owner == LINUX ? !end.entry :
		       owner == HOLE && end.level == 2 && end.entry == NESTED_HOLE;
	if (end.level > 2 || (end.entry & PT_PS))
		return owner == LINUX &&
		       identity(end.entry, watched & ~(level_size(end.level) - 1), end.level);
	if (table == ONES || table == SINK)
		return owner == HOLE && end.entry == ((POOL_PA + table * 4096) | PT_TABLE);
	for (i = 0; i < PT_ENTRIES; i++)
		if (!sound_page(table, i))
			return false;
	return owner != HOLE;
}

/* The claims, for any address in the watched page */
static void claim(u64 addr)
{
	struct end end = walk(addr, 1);
	u64 inside = level_size(end.level) - 1;
	u64 pa = (end.entry & PT_ADDR & ~inside) | (addr & inside);
	bool answer = (pa & ~0xfffull) == ONES_PAGE || (pa & ~0xfffull) == SINK_PAGE;
	bool shown = owner == OPEN && (addr & (level_size(2) - 1)) < OPEN_PAGES * 4096;

	if (!(end.entry & PT_P))
		return;
	PROVE(pa == addr || answer, "mapped to itself, or to the page of ones or the sink");
	PROVE(owner == LINUX || shown || answer, "a removed page is not mapped");
	PROVE(!shown || !(end.entry & PT_W), "an open page is not writable");
	PROVE(!config(addr) || answer || !(end.entry & PT_W), "config space is not writable");
	PROVE(!answer || !(end.entry & PT_W) || (pa & ~0xfffull) == SINK_PAGE,
	      "the page of ones is not writable");
}

/* ---- one operation ---- */

static bool prepared(u64 pa)
{
	return walk(pa, 2).level == 2;
}

/* A page without references becomes the table of @pa's open part. */
static u32 spare_table(u64 pa)
{
	u32 page = any_u32(), i, k;

	ASSUME(page >= FIRST && page < used());
	for (i = 0; i < PAGES; i++)
		for (k = 0; k < PT_ENTRIES; k++)
			ASSUME((tables[i][k] & PT_ADDR) != POOL_PA + page * 4096);
	level_of[page] = 1;
	base_of[page] = pa;
	return page;
}

/* Pages that the operation took from the pool are on the path to @addr. */
static void place_new(u64 addr, u32 old)
{
	struct end end;
	u32 level, page;

	for (level = LEVELS - 1; level >= 1; level--) {
		end = walk(addr, level);
		page = end.page;
		if (end.level == level && page >= old) {
			level_of[page] = level;
			base_of[page] = addr & ~(level_size(level + 1) - 1);
		}
	}
}

static void operation(u64 addr, u32 which)
{
	u64 pa = addr & ~(level_size(2) - 1);
	bool mine = pa == watched;
	struct pcpu cpu = { .status = &the_status.cpus[0] };

	switch (which) {
	case 0:
		PROVE(front_fill(p, addr) || (addr < SPACE && !(addr >> ram.phys_bits)),
		      "a filled address can be reached");
		break;
	case 1:
		ASSUME(!mine || owner == LINUX);
		if (!front_prepare(p, pa, level_size(2)))
			PROVE(prepared(pa), "a prepared page can be removed");
		break;
	case 2:
		ASSUME(prepared(pa) && (!mine || owner == LINUX));
		front_set(p, pa, level_size(2), LINUX_NONE);
		owner = mine ? HOLE : owner;
		break;
	case 3:
		ASSUME(prepared(pa) && (!mine || owner != LINUX) && uniform(pa, 2) &&
		       !over_edge(pa, 2));
		front_set(p, pa, level_size(2), LINUX_ALL);
		owner = mine ? LINUX : owner;
		break;
	case 4:
		ASSUME(prepared(pa) && (!mine || owner == HOLE) && in_ram(pa, 2));
		front_split(p, pa, POOL_PA + spare_table(pa) * 4096);
		front_set(p, pa, OPEN_PAGES * 4096, LINUX_READ);
		owner = mine ? OPEN : owner;
		break;
	default:
		front_touch(&cpu, addr, any_bool());
	}
}

int main(void)
{
	u64 addr = any_u64(), looked = any_u64();
	u32 which = CASE, page = any_u32(), i = any_u32() % PT_ENTRIES, old;
	bool was_prepared;

	watched = any_u64();
	owner = any_u32() % 3;
	any_state();
	ASSUME((addr < SPACE || which == 0 || which == 5) && looked < SPACE &&
	       watched == (looked & ~(level_size(2) - 1)));
	ASSUME(sound_watched());
	claim(looked);
	was_prepared = prepared(watched);
	old = used();

	operation(addr, which);
	place_new(addr, old);

	PROVE(used() <= PAGES, "no access leaves the pool");
	ASSUME(page < used() && page < PAGES);
	PROVE(page == ONES || page == SINK ? sound_answers(i) : sound_entry(page, i),
	      "the tables remain sound");
	PROVE(sound_watched(), "the watched page is mapped as its owner allows");
	PROVE(!was_prepared || prepared(watched), "a prepared page remains prepared");
	claim(looked);
	return 0;
}
