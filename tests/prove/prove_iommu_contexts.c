// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: the entry of a function behind VT-d leads to a table of the function's owner. Linux's
 *	entries get no number of a cell, lead to the monitor's table where Linux leaves the function
 *	untranslated, and change no function of a cell; the root table names tables of Linux, but no
 *	table of the monitor because Linux says so (case 1 in legacy mode, case 2 in scalable mode).
 *	Where units nest, a context of Linux names the monitor's directory of PASIDs, whose entries
 *	have the function's own place, nest in the monitor's table, and take Linux's number and
 *	table of the first stage only (case 5).
 *	A function that is given to a cell leads to this cell's table, by its number, and no other
 *	function changes; a function that is taken from a cell leads to no cell (case 3). A bus that
 *	gets a table in the monitor keeps its rules; without memory nothing changes (case 4)
 * Bound: tables of 4 words; one bus with a table in the monitor; any entry, legacy and scalable
 * Assumed: the root table names the table that all devices share only where Linux uses no tables
 *	(see iommu_tables()); another CPU changes an entry once meanwhile at most
 * Enough: each bus and each function is treated alike, and separately; the watched one is any
 * Options: --unwind 9 --unwindset table_write.0:3,a_nested_entry.0:17 --object-bits 12
 * Cases: 1 2 3 4 5
 * Changed: hypervisor/tables/paging.h: `#define PT_ENTRIES	(1u << PT_BITS)` ->
 *	`#define PT_ENTRIES	4u`: words of a table
 * Changed: hypervisor/iommu/contexts.c: `#define CHUNK		32` ->
 *	`#define CHUNK		4`: the same
 * Changed: hypervisor/iommu/contexts.c:
 *	`memcpy(to, pt_table(&me()->pt_pool, me()->iommu.contexts), QV_PAGE);` ->
 *	`memcpy(to, pt_table(&me()->pt_pool, me()->iommu.contexts), 8 * PT_ENTRIES);`: the same
 * Changed: hypervisor/iommu/vtd.h: `#define PASIDS		64u` -> `#define PASIDS		2u`:
 *	entries of a table
 * Changed: hypervisor/iommu/contexts.c: `* PT_ENTRIES / PASIDS;` -> `* 8;`: words of such an entry
 * Changed: hypervisor/iommu/vtd.h: `#define PASID_LEN	32u` ->
 *	`#define PASID_LEN	24u`: without the fourth word, which nothing reads; four words are
 *	contexts
 * Changed: hypervisor/core/instance.h: `return (struct instance *)(QV_VA_BLOCK + QV_OFF_INSTANCE);`
 *	-> `extern struct instance the_instance; return &the_instance;`: the instance of the proof
 * Changed: hypervisor/iommu/iommu.h: `*end = line + len;` -> `*end = line;`: no caches
 * Changed: hypervisor/iommu/iommu.h: `for (; line < end; line += 64)` -> `for (; 0; line = end)`:
 *	the same
 * Changed: hypervisor/iommu/iommu.h: `asm volatile("lock cmpxchg16b %0"` ->
 *	`extern bool a_exchange(u64 *at, u64 old_low, u64 old_high, u64 low, u64 high);
 *	done = a_exchange(at, old_low, old_high, low, high); if (0) asm volatile("nop"`: an exchange
 *	that may fail
 * Changed: hypervisor/iommu/iommu.h: `		     : "+m"(*(u64 (*)[2])at), "+a"(old_low),` ->
 *	`		     : "+m"(*(u64 *)at), "+a"(old_low),`: not used
 * Mutation: hypervisor/iommu/contexts.c: `domain >= me()->boot.iommus.domain` -> `0`: a device of
 *	Linux gets the number of a cell (case 1)
 * Mutation: hypervisor/iommu/contexts.c: `entry[0] &= LOW;` -> ``: types and reserved bits reach
 *	the unit (case 2)
 * Mutation: hypervisor/iommu/contexts.c: `me()->boot.iommus.stage ? 0 : HIGH` -> `HIGH`:
 *	in scalable mode, more than the table reaches the unit (case 2)
 * Mutation: hypervisor/iommu/contexts.c: `PASID_KIND(pasid[0]) == PASID_STAGE(PASID_IDENTITY)` ->
 *	`0`: a function that Linux leaves untranslated reaches all memory (case 2)
 * Mutation: hypervisor/iommu/contexts.c: `identity = TYPE(entry[0]) == IDENTITY` -> `identity = 0`:
 *	the same in legacy mode (case 1)
 * Mutation: hypervisor/iommu/contexts.c: `low & CONTEXT_CELL_PASIDS : high & CONTEXT_CELL` ->
 *	`low & CONTEXT_CELL_PASIDS : 0`: Linux takes the function of a cell (case 1)
 * Mutation: hypervisor/iommu/contexts.c: `word & CONTEXT_PRESENT && !is_own(word & PT_ADDR)` ->
 *	`word & CONTEXT_PRESENT`: Linux names a table of the monitor (case 1)
 * Mutation: hypervisor/iommu/contexts.c: `low | CONTEXT_CELL_PASIDS, 0` -> `low, 0`: the function
 *	of a cell has no mark (case 3)
 * Mutation: hypervisor/iommu/contexts.c: `CONTEXT_LEVELS4 | CONTEXT_DOMAIN(domain)` ->
 *	`CONTEXT_LEVELS4 | CONTEXT_DOMAIN(domain - 1)`: a cell gets the number of another (case 3)
 * Mutation: hypervisor/iommu/contexts.c: `+ bdf * words() % PT_ENTRIES` -> ``: another function
 *	goes to the cell (case 3)
 * Mutation: hypervisor/iommu/contexts.c: `u->translated ? 0 : shared[0]` -> `shared[0]`: a function
 *	that a cell returns passes by the tables of Linux (case 3)
 * Mutation: hypervisor/iommu/contexts.c: `&& (*root & PT_ADDR) != me()->iommu.contexts` -> ``: a
 *	cell's entry is written for all buses (case 4)
 * Mutation: hypervisor/iommu/contexts.c: `if (!fresh)` -> `if (0)`: the root table names the page 0
 *	(case 4)
 * Mutation: hypervisor/iommu/contexts.c: `PASID_KIND(pasid[0]) == PASID_STAGE(1) ?` -> `1 ?`: an
 *	entry of another kind is nested (case 5)
 * Mutation: hypervisor/iommu/contexts.c: `PASID_STAGE(3) |` -> `PASID_STAGE(1) |`: Linux's table
 *	is used without the monitor's (case 5)
 * Mutation: hypervisor/iommu/contexts.c: `PASID_LEVELS4 | me()->iommu.table.root` -> `pasid[0]`:
 *	Linux names the table of the second stage (case 5)
 * Mutation: hypervisor/iommu/contexts.c: `pasid[1] & PASID_HIGH` -> `pasid[1]`: memory types and
 *	reserved bits reach the unit (case 5)
 * Mutation: hypervisor/iommu/contexts.c: `own ? bdf : 0` -> `0`: the entry of another
 *	function (case 5)
 * Mutation: hypervisor/iommu/contexts.c: `+ bdf % PASIDS` -> `+ 0`: functions share an entry
 *	(case 5)
 * Mutation: hypervisor/iommu/contexts.c: `else if (me()->boot.iommus.nested && table)` ->
 *	`else if (0)`: the root table names a table of Linux (case 5)
 * Mutation: hypervisor/iommu/contexts.c: `if (!table)` -> `if (0)`: without memory, the directory
 *	names the page 0 (case 5)
 */
#include "iommu/contexts.c"
#include "prove.h"

#define FUNCTIONS	4u		/* that a root table of 4 words serves */
#define POOL		0x40000000ull
#define ROOT		POOL
#define SHARED		(POOL + QV_PAGE)	/* of all devices */
#define BUS		(POOL + 2 * QV_PAGE)	/* of one bus */
#define FRESH		(POOL + 3 * QV_PAGE)
#define DIRECTORY	(POOL + 4 * QV_PAGE)	/* of PASIDs */
#define TABLE		(POOL + 5 * QV_PAGE)	/* of PASIDs, that there is */
#define POOL_LEN	(6 * QV_PAGE)
#define LINUX_ROOT	0x1000ull

struct instance the_instance;
static struct iommu_unit *const unit = &the_instance.iommu.units[0];
static u64 root[4], shared[4], bus[4], fresh[16], directory[FUNCTIONS / PASIDS], table[16];

u64 *pt_table(const struct pt_pool *pool, u64 pa)
{
	(void)pool;
	PROVE(pa >= POOL && pa < POOL + POOL_LEN && pa % QV_PAGE == 0, "a table of the monitor");
	return pa == ROOT ? root : pa == SHARED ? shared : pa == BUS ? bus :
	       pa == DIRECTORY ? directory : pa == TABLE ? table : fresh;
}

u64 pt_take(struct pt_pool *pool)
{
	(void)pool;
	return any_bool() ? FRESH : 0;
}

/* ---- what Linux says ---- */

static u64 linux_root[4], linux_bus[4], linux_entry[3];

/* The monitor reads an entry of a directory, then, if it is present, the entry of PASID 0 */
static bool is_directory(bool present)
{
	static bool entry_follows;
	bool directory = !entry_follows;

	entry_follows = directory && present;
	return directory;
}

bool guest_copy_phys(struct pcpu *cpu, void *to, u64 gpa, u32 len)
{
	static bool root_read;
	bool of_root = len == 8 || (len == 32 && CASE <= 2 && !root_read);
	u64 *kept = len == PASID_LEN ? linux_entry : of_root ? linux_root : linux_bus;
	u32 i;

	(void)cpu, (void)gpa;
	root_read |= of_root;
	PROVE(len <= 32 && !(len % 8), "whole words");
	if (any_bool()) {
		for (i = 0; i < len / 8; i++)
			kept[i] = 0;
		if (len == PASID_LEN)
			is_directory(false);
		return false;
	}
	for (i = 0; i < len / 8; i++)
		((u64 *)to)[i] = kept[i] = any_u64();
	if (len == PASID_LEN && is_directory(kept[0] & 1) && !(kept[0] & 1))
		kept[1] = kept[2] = 0;		/* no entry of PASID 0 is read */
	return true;
}

/* ---- changes of entries ---- */

static u64 *watched;			/* the entry of any function in the table of the bus */
static u32 at_watched;			/* the index of its first word */
static bool cells_now;			/* the function is a cell's */
static bool other_cpu;			/* another CPU has changed the entry */
static u64 others[2];			/* to this */

static bool scalable(void)
{
	return the_instance.boot.iommus.stage;
}

static bool marked(const u64 *entry)
{
	return scalable() ? entry[0] & CONTEXT_CELL_PASIDS : entry[1] & CONTEXT_CELL;
}

/* An entry of Linux's device leads where Linux says, or to the monitor's table */
static void is_linux(u64 low, u64 high)
{
	const u64 *theirs = linux_bus + at_watched;
	u64 mode = linux_entry[0] & (7ull << 6 | 1);
	bool identity = scalable() ? mode == (4ull << 6 | 1) : (theirs[0] >> 2 & 3) == 2;
	u64 domain = scalable() ? linux_entry[1] & 0xffff : theirs[1] >> 8 & 0xffff;

	if (!(low & 1)) {
		PROVE(!low && !high, "absent");
		return;
	}
	PROVE(theirs[0] & 1, "an entry of Linux");
	if (identity) {
		PROVE(low == shared[0] && high == shared[1], "by the monitor's table");
		return;
	}
	PROVE(domain < the_instance.boot.iommus.domain, "no number of the monitor and of cells");
	PROVE(low == (theirs[0] & (PT_ADDR | 3)), "Linux's table, no type, no reserved bit");
	PROVE(high == (scalable() ? 0 : theirs[1] & 0xffff07), "by Linux's number");
}

bool a_exchange(u64 *at, u64 old_low, u64 old_high, u64 low, u64 high)
{
	if (at == watched && !other_cpu && any_bool()) {
		other_cpu = true;
		at[0] = others[0];
		at[1] = others[1];
		cells_now = marked(others);
	}
	if (at[0] != old_low || at[1] != old_high)
		return false;
	if (at == watched && CASE <= 2)
		is_linux(low, high);
	if (at == watched && CASE <= 2)
		PROVE(!cells_now, "a cell's function does not change");
	at[0] = low;
	at[1] = high;
	return true;
}

/* ---- the state ---- */

/* A table of the monitor or of Linux, or none, in a word of the root table */
static u64 any_word(bool of_linux)
{
	u64 table = any_u64() & PT_ADDR;

	ASSUME(table - POOL >= POOL_LEN);
	return any_bool() ? of_linux ? table | 1 : SHARED | 1 : 0;
}

static void a_state(u32 bdf, bool has_table)
{
	u32 i;

	the_instance.pt_pool.pa = POOL;
	the_instance.pt_pool.end = POOL_LEN;
	the_instance.boot.iommus.stage = CASE == 1 ? 0 : CASE == 2 || CASE == 5 ? 2 : any_u32() % 3;
	the_instance.boot.iommus.nested = CASE == 5;
	the_instance.boot.iommus.domain = any_u32();
	ASSUME(the_instance.boot.iommus.domain <= 0xffff - QV_INSTANCES);
	the_instance.iommu.contexts = SHARED;
	/* other tables read as those that Linux has lost */
	the_instance.boot.num_ram = 1;
	the_instance.boot.ram[0].end = ~0ull;
	unit->root = ROOT;
	unit->linux_root = LINUX_ROOT;
	unit->translated = any_bool();
	for (i = 0; i < 4; i++) {
		bus[i] = any_u64();
		shared[i] = any_u64();
		/* in legacy mode an entry of the root table has a second word, which is 0 */
		root[i] = !scalable() && i % 2 ? 0 : any_word(unit->translated);
	}
	/* the monitor's entries do not have the mark of a cell */
	ASSUME(!marked(shared) && (shared[0] & 1));
	if (has_table)
		root[root_word(bdf)] = BUS | 1;
	at_watched = any_u32() % FUNCTIONS * words() % 4;
	watched = bus + at_watched;
	others[0] = any_u64();
	others[1] = any_u64();
}

/* ---- cases 1 and 2: requests of Linux ---- */

static void a_request(void)
{
	u64 before[4], old[2], theirs;
	struct pcpu cpu = { 0 };
	u32 bdf = any_u32() % FUNCTIONS, i, at = any_u32() % 4;

	a_state(bdf, true);
	ASSUME(marked(others));				/* the part dma gives it to a cell */
	cells_now = marked(watched);
	old[0] = watched[0];
	old[1] = watched[1];
	for (i = 0; i < 4; i++)
		before[i] = root[i];
	contexts_follow(&cpu, unit);
	if (cells_now && !other_cpu)
		PROVE(watched[0] == old[0] && watched[1] == old[1], "a cell's function stays");
	if (cells_now && other_cpu)
		PROVE(watched[0] == others[0] && watched[1] == others[1], "also a new one");
	theirs = linux_root[at] & (PT_ADDR | 1);
	if (!unit->translated || before[at] == (BUS | 1) || (!scalable() && at % 2))
		PROVE(root[at] == before[at], "a table in the monitor stays");
	else
		PROVE(root[at] == ((theirs & 1) && (theirs & PT_ADDR) - POOL >= POOL_LEN ?
				   theirs : 0), "Linux's table, and none of the monitor");
	if (unit->translated && !cells_now && !scalable())
		is_linux(watched[0], watched[1]);
}

/* ---- case 3: a function goes to a cell, and returns ---- */

static void a_gift(void)
{
	u64 table = any_u64() & PT_ADDR, old[2], *entry;
	u32 bdf = any_u32() % FUNCTIONS, domain = any_u32() & 0xffff;
	struct pcpu cpu = { 0 };
	bool gives = any_bool();

	a_state(bdf, true);
	ASSUME(!marked(others) && domain > the_instance.boot.iommus.domain);
	entry = bus + bdf * words() % 4;
	old[0] = watched[0];
	old[1] = watched[1];
	contexts_set(&cpu, unit, bdf, gives ? 0 : table,
		     gives ? the_instance.boot.iommus.domain : domain);
	if (watched != entry) {
		PROVE(other_cpu || (watched[0] == old[0] && watched[1] == old[1]), "no other one");
		return;
	}
	if (gives) {
		PROVE(!marked(entry), "it is no cell's");
		PROVE(unit->translated ? !entry[0] && !entry[1] :
		      entry[0] == shared[0] && entry[1] == shared[1], "blocked, or as others");
		return;
	}
	PROVE(marked(entry), "it is a cell's");
	PROVE(!table || (entry[0] & PT_ADDR) == table, "the cell's table");
	PROVE((entry[0] & 1) == !!table, "or none");
	PROVE(scalable() ? !entry[1] && !(entry[0] & ~(PT_ADDR | 1 | CONTEXT_CELL_PASIDS)) :
	      !(entry[0] & ~(PT_ADDR | 1)) && entry[1] == ((table ? 2 | domain << 8 : 0) | 8),
	      "by the cell's number, nothing else");
}

/* ---- case 4: a bus gets a table in the monitor ---- */

static void a_bus(void)
{
	u32 bdf = any_u32() % FUNCTIONS, at, i;
	bool has_table = any_bool(), done;
	struct pcpu cpu = { 0 };
	u64 before[4];

	a_state(bdf, has_table);
	at = root_word(bdf);
	for (i = 0; i < 4; i++)
		before[i] = root[i];
	for (i = 0; i < 4; i++)
		fresh[i] = 0;				/* of pt_take() */
	watched = fresh + at_watched;
	other_cpu = true;				/* no other CPU knows it yet */
	done = contexts_own(&cpu, unit, bdf);
	for (i = 0; i < 4; i++)
		PROVE(i == at || root[i] == before[i], "no other bus");
	if (!done || has_table) {
		PROVE(root[at] == before[at], "nothing changes");
		return;
	}
	PROVE(root[at] == (FRESH | 1), "its own table");
	PROVE(!marked(watched) || !unit->translated, "it has no function of a cell");
	if (!unit->translated)
		PROVE(watched[0] == shared[at_watched] && watched[1] == shared[at_watched + 1],
		      "a copy of the table of all");
	else if (!scalable())
		is_linux(watched[0], watched[1]);
}

/* ---- case 5: units that nest ---- */

/* One entry of Linux, whose function's place in the directory has a table, or none */
static void a_nested_entry(u32 bdf)
{
	u64 entry[2] = { any_u64(), any_u64() }, theirs = entry[0], old[16], *at;
	struct pcpu cpu = { 0 };
	bool untranslated;
	u32 i, place = bdf % PASIDS * 8, word = any_u32() % 16;

	for (i = 0; i < 16; i++)
		old[i] = table[i] = any_u64();
	directory[bdf / PASIDS] = any_bool() ? TABLE | 1 : 0;
	untranslated = adapt(&cpu, bdf, entry);
	if (!(entry[0] & 1)) {
		PROVE(!entry[0] && !entry[1] && !untranslated, "absent");
		return;
	}
	PROVE(theirs & 1, "an entry of Linux");
	if (untranslated) {
		PROVE((linux_entry[0] & 0x1c1) == 0x101 && entry[0] == shared[0] &&
		      entry[1] == shared[1], "the monitor's table");
		return;
	}
	PROVE((linux_entry[0] & 0x1c1) == 0x41, "Linux translates by the first stage");
	PROVE((linux_entry[1] & 0xffff) < the_instance.boot.iommus.domain, "by its own number");
	PROVE(entry[0] == (DIRECTORY | 4 << 9 | 1) && entry[1] == bdf,
	      "the monitor's directory, the function's place, no other bit");
	PROVE(directory[bdf / PASIDS] == (TABLE | 1) || directory[bdf / PASIDS] == (FRESH | 1),
	      "a table of the monitor");
	at = directory[bdf / PASIDS] == (TABLE | 1) ? table : fresh;
	PROVE(at[place] == (the_instance.iommu.table.root | 3 << 6 | 2 << 2 | 1),
	      "nested in the monitor's table");
	PROVE(at[place + 1] == (linux_entry[1] & 0x180ffff) && at[place + 2] == linux_entry[2],
	      "Linux's number and table");
	PROVE(word - place < 3 || at[word] == (at == table ? old[word] : 0), "no other word");
}

/* No word of the root table becomes one of Linux */
static void a_nested_bus(u32 bdf)
{
	u32 at = any_u32() % 4, i;
	struct pcpu cpu = { 0 };

	for (i = 0; i < 4; i++)
		root[i] = 0;
	if (any_bool())
		root[root_word(bdf)] = BUS | 1;
	contexts_follow(&cpu, unit);
	PROVE(!root[at] || root[at] == (BUS | 1) || root[at] == (FRESH | 1),
	      "a table of the monitor, or none");
}

static void a_nest(void)
{
	u32 bdf = any_u32() % FUNCTIONS;

	a_state(bdf, true);
	the_instance.iommu.table.root = any_u64() & PT_ADDR;
	the_instance.iommu.pasids = DIRECTORY;
	unit->translated = true;
	other_cpu = true;
	if (any_bool())
		a_nested_entry(bdf);
	else
		a_nested_bus(bdf);
}

int main(void)
{
	if (CASE <= 2)
		a_request();
	else if (CASE == 3)
		a_gift();
	else if (CASE == 4)
		a_bus();
	else
		a_nest();
	return 0;
}
