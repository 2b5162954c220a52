// SPDX-License-Identifier: GPL-2.0-only
/* Tables of Linux for devices that the driver does not let the monitor replace */
#include <string.h>
#include "cross/iommu_contexts.h"
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
	CHECK(entry >> 12 < PAGES);
	return memory[entry >> 12];
}

/* Returns whether the word is in the reason, or there is no reason (NULL) */
static bool refused(u64 rtaddr, const char *word, bool translates)
{
	u32 translated = 0;
	const char *why = iommu_check_contexts(table, rtaddr, DOMAIN, &translated);

	if (!why)
		CHECK_EQ(translated, translates);
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

UNIT_SUITE(iommu_refused) = {
	{ "iommu: contexts that cannot be replaced are refused", test_contexts_of_legacy_mode },
	{ "iommu: tables of PASIDs that cannot be replaced are refused",
	  test_pasids_of_scalable_mode },
	{ 0 }
};
