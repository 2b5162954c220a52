// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of Linux, for devices and interrupts, that the driver does not let the monitor replace.
 * No emulator posts interrupts, nor has devices that translate addresses themselves.
 */
#include <string.h>
#include "cross/iommu_entries.h"
#include "unit.h"

/* Each table is a page here: its address is its number times 4096 */
enum { ROOT, CONTEXTS, DIRECTORY, PASIDS, MORE_PASIDS, PAGES };
#define AT(page)	((page) * 4096ull)
#define DOMAIN		100u
#define FUNCTION	0x28u		/* 00:05.0 */
#define SCALABLE	(AT(ROOT) | RTADDR_SCALABLE)

static u64 memory[PAGES][512];

static const u64 *table(u64 entry)
{
	u64 page = (entry & ((1ull << 52) - 1)) >> 12;

	CHECK(page < PAGES);
	return memory[page];
}

/* Returns whether the word is in the reason, or there is no reason (NULL) */
static bool refused(u64 rtaddr, const char *word, bool translates)
{
	struct iommu_contexts found = { 0 };
	const char *why = iommu_check_contexts(table, rtaddr, DOMAIN, &found);

	if (!why)
		CHECK_EQ(found.translated, translates);
	return word ? why && strstr(why, word) : !why;
}

static void test_contexts_of_legacy_mode(void)
{
	u64 *context = &memory[CONTEXTS][2 * FUNCTION];

	memset(memory, 0, sizeof(memory));
	CHECK(refused(AT(ROOT), NULL, false));
	memory[ROOT][0] = AT(CONTEXTS) | 1;
	context[0] = 2 << 2 | 1;			/* not translated */
	CHECK(refused(AT(ROOT), NULL, false));
	context[0] = 1;
	context[1] = (DOMAIN - 1) << 8;
	CHECK(refused(AT(ROOT), NULL, true));
	context[1] = DOMAIN << 8;
	CHECK(refused(AT(ROOT), "too many tables", true));
	context[0] = 1 << 2 | 1;
	CHECK(refused(AT(ROOT), "pci=noats", true));
}

/* A function of the upper half of bus 0, too, whose tables are the same */
static u64 *scalable(u32 function, u64 kind)
{
	memset(memory, 0, sizeof(memory));
	memory[ROOT][function >> 7] = AT(CONTEXTS) | 1;
	memory[CONTEXTS][4 * (function & 0x7f)] = AT(DIRECTORY) | 2 << 9 | 1;
	memory[DIRECTORY][0] = AT(PASIDS) | 1;
	memory[PASIDS][0] = kind << 6 | 1;
	memory[PASIDS][1] = DOMAIN - 1;
	return &memory[CONTEXTS][4 * (function & 0x7f)];
}

static void test_pasids_of_scalable_mode(void)
{
	static const u32 functions[] = { FUNCTION, 0x80 | FUNCTION, 0x2ff };
	u64 *context;
	u32 i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		unit_case("function %#x", functions[i]);
		scalable(functions[i], 4);
		CHECK(refused(SCALABLE, NULL, false));
		scalable(functions[i], 1);
		CHECK(refused(SCALABLE, NULL, true));
		scalable(functions[i], 2);
		CHECK(refused(SCALABLE, NULL, true));
		memory[PASIDS][1] = DOMAIN;
		CHECK(refused(SCALABLE, "too many tables", true));
		scalable(functions[i], 3);		/* of a virtual machine, in two stages */
		CHECK(refused(SCALABLE, "virtual machines", true));
		context = scalable(functions[i], 4);
		context[0] |= 1 << 2;
		CHECK(refused(SCALABLE, "pci=noats", true));
		context = scalable(functions[i], 4);
		context[0] |= 1 << 4;			/* it requests pages */
		CHECK(refused(SCALABLE, "pci=noats", true));
		context = scalable(functions[i], 4);
		context[1] = 7;				/* PASID of accesses without one */
		CHECK(refused(SCALABLE, "processes", true));
		scalable(functions[i], 4);
		memory[PASIDS][8 * 63] = 4 << 6 | 1;	/* PASID 63 */
		CHECK(refused(SCALABLE, "processes", true));
		scalable(functions[i], 4);
		memory[DIRECTORY][511] = AT(MORE_PASIDS) | 1;
		CHECK(refused(SCALABLE, NULL, false));
		memory[MORE_PASIDS][0] = 1 << 6 | 1;	/* the last but 63 of this directory */
		CHECK(refused(SCALABLE, "processes", true));
	}
}

/* Returns whether the word is in the reason, or there is no reason (NULL) */
static bool because(const char *why, const char *word)
{
	return word ? why && strstr(why, word) : !why;
}

static void test_entries_of_interrupts_by_vtd(void)
{
	static u64 entries[2 * (QV_MON_IRTES + 8)];
	const u32 num = QV_MON_IRTES + 8;

	CHECK(because(iommu_check_irtes(entries, num), NULL));
	entries[2 * (QV_MON_IRTES - 1)] = 1;			/* the last that has a place */
	CHECK(because(iommu_check_irtes(entries, num), NULL));
	entries[2 * 7] = 1ull << 15;				/* posted, but absent */
	CHECK(because(iommu_check_irtes(entries, num), NULL));
	entries[2 * 7] |= 1;
	CHECK(because(iommu_check_irtes(entries, num), "virtual machines"));
	entries[2 * 7] = 0;
	entries[2 * (num - 1)] = 1;
	CHECK(because(iommu_check_irtes(entries, num), "more than 2048"));
	CHECK(because(iommu_check_irtes(entries, QV_MON_IRTES), NULL));
}

/* Returns why the entry of AMD-Vi, with words 0 to 2, is refused */
static const char *device(u64 word0, u64 word1, u64 word2, struct qv_mon_iommus *units, bool *used)
{
	const u64 entry[4] = { word0, word1, word2, 0 };

	*units = (struct qv_mon_iommus){ .domain = DOMAIN };
	*used = false;
	return iommu_check_device(table, entry, units, used);
}

static void test_entries_of_devices_by_amdvi(void)
{
	const u64 on = 3, open = 3ull << 61, translates = 4 << 9;
	const u64 remaps = AT(PASIDS) | 2ull << 60 | 1;		/* by a table there */
	struct qv_mon_iommus units;
	bool used;

	memset(memory, 0, sizeof(memory));
	CHECK(because(device(0, 0, 0, &units, &used), NULL));
	CHECK(!used && !units.translated && !units.num_irts);
	CHECK(because(device(on | open, 0, 0, &units, &used), NULL));
	CHECK(used && !units.translated && !units.num_irts);
	CHECK(because(device(on | open | translates, DOMAIN - 1, 0, &units, &used), NULL));
	CHECK(used && units.translated);
	CHECK(because(device(on | open | translates, DOMAIN, 0, &units, &used), "too many"));
	CHECK(because(device(on | open, 1ull << 32, 0, &units, &used), "pci=noats"));
	CHECK(because(device(on | open | 1ull << 55, 0, 0, &units, &used), "pgtbl_v2"));
	CHECK(because(device(on | open, 1ull << 39, 0, &units, &used), "excludes a range"));
	CHECK(because(device(0, 1ull << 32 | 1ull << 39, 0, &units, &used), NULL));
	CHECK(because(device(0, 0, remaps | 8 << 1, &units, &used), NULL));
	CHECK(used && units.num_irts == 1);
	CHECK(because(device(0, 0, remaps | 10 << 1, &units, &used), "more than 512"));
	memory[PASIDS][2 * 255] = 1ull << 7;			/* for a guest, but absent */
	CHECK(because(device(0, 0, remaps | 8 << 1, &units, &used), NULL));
	memory[PASIDS][2 * 255] |= 1;
	CHECK(because(device(0, 0, remaps | 8 << 1, &units, &used), "posts interrupts"));
	CHECK(because(device(0, 0, remaps | 7 << 1, &units, &used), NULL));
}

static void test_units_by_vtd(void)
{
	/* 16 bits of domains, 39 and 48 bits in tables, 48 bits of addresses, pages of 2 MiB */
	const u64 cap = 6 | 3 << 9 | 47ull << 16 | 1ull << 34, ecap = 1 << 1, top = 1ull << 40;
	const u64 bits = 63ull << 16;

	CHECK(because(iommu_check_capabilities(cap, ecap, top), NULL));
	CHECK(because(iommu_check_capabilities(cap, 0, top), "lacks a queue"));
	CHECK(because(iommu_check_capabilities(cap & ~(1ull << 10), ecap, top), "four levels"));
	CHECK(because(iommu_check_capabilities(cap & ~(1ull << 34), ecap, top), "2 MiB"));
	CHECK(because(iommu_check_capabilities(cap & ~7ull, ecap, top), "domains"));
	CHECK(because(iommu_check_capabilities(cap | 1 << 4, ecap, top), "lacks"));
	CHECK(because(iommu_check_capabilities(cap | 1 << 7, ecap, top), "caching mode"));
	/* the last byte of memory fits, the next one does not */
	CHECK(because(iommu_check_capabilities((cap & ~bits) | 39 << 16, ecap, top), NULL));
	CHECK(because(iommu_check_capabilities((cap & ~bits) | 38 << 16, ecap, top), "address"));
	CHECK(because(iommu_check_capabilities(cap, ecap, 1ull << 47), NULL));
	CHECK(because(iommu_check_capabilities(cap, ecap, (1ull << 47) + 1), "address bits"));
}

static void test_units_by_amdvi(void)
{
	const u64 control = 1 | 1 << 12 | 1 << 17, features = 1 << 6, queue = 8ull << 56;

	CHECK(because(iommu_check_amdvi(control, features, queue, 0), NULL));
	CHECK(because(iommu_check_amdvi(control & ~1ull, features, queue, 0), "drive"));
	CHECK(because(iommu_check_amdvi(control & ~(1ull << 12), features, queue, 0), "drive"));
	CHECK(because(iommu_check_amdvi(control, features, 7ull << 56, 0), "drive"));
	/* entries of interrupts with 4 bytes */
	CHECK(because(iommu_check_amdvi(control & ~(1ull << 17), features, queue, 0),
		      "old format"));
	CHECK(because(iommu_check_amdvi(control | 1ull << 59, features, queue, 0), "irtcachedis"));
	CHECK(because(iommu_check_amdvi(control | 1ull << 36, features, queue, 0), "in pieces"));
	CHECK(because(iommu_check_amdvi(control, 0, queue, 0), "flushes all"));
	CHECK(because(iommu_check_amdvi(control, features, queue, 1), "excludes"));
}

/* Which units nest Linux's tables, so that these need no trust */
static void test_units_that_nest(void)
{
	const u64 able = 1ull << 26 | 19ull << 35 | 1ull << 49;
	struct iommu_contexts found = { .translated = true };

	CHECK(!iommu_check_nested(able, 2, &found));
	CHECK(because(iommu_check_nested(able, 0, &found), "iommu=pt"));	/* legacy mode */
	CHECK(because(iommu_check_nested(able, 1, &found), "iommu=pt"));
	CHECK(because(iommu_check_nested(able & ~(1ull << 26), 2, &found), "iommu=pt"));
	CHECK(because(iommu_check_nested(able & ~(1ull << 49), 2, &found), "iommu=pt"));
	CHECK(because(iommu_check_nested(1ull << 26 | 15ull << 35 | 1ull << 49, 2, &found),
		      "iommu=pt"));
	found.second = true;
	CHECK(because(iommu_check_nested(able, 2, &found), "second stage"));

	memset(&found, 0, sizeof(found));
	scalable(FUNCTION, 2);
	CHECK(!iommu_check_contexts(table, SCALABLE, DOMAIN, &found));
	CHECK(found.second && found.translated && found.tables == 1);
	memset(&found, 0, sizeof(found));
	scalable(FUNCTION, 1);
	CHECK(!iommu_check_contexts(table, SCALABLE, DOMAIN, &found));
	CHECK(!found.second && found.translated);
}

UNIT_SUITE(iommu_refused) = {
	{ "iommu: units that the monitor cannot drive are refused, VT-d", test_units_by_vtd },
	{ "iommu: units that the monitor cannot drive are refused, AMD-Vi", test_units_by_amdvi },
	{ "iommu: contexts that cannot be replaced are refused", test_contexts_of_legacy_mode },
	{ "iommu: tables of PASIDs that cannot be replaced are refused",
	  test_pasids_of_scalable_mode },
	{ "iommu: entries of interrupts that cannot be replaced are refused, VT-d",
	  test_entries_of_interrupts_by_vtd },
	{ "iommu: entries of devices that cannot be replaced are refused, AMD-Vi",
	  test_entries_of_devices_by_amdvi },
	{ "iommu: units that nest Linux's tables", test_units_that_nest },
	{ 0 }
};
