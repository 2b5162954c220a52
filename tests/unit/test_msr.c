// SPDX-License-Identifier: GPL-2.0-only
/*
 * svm/msr.c: each bit of the permission map, compared with lists that are kept apart from the code.
 */
#include <stdlib.h>
#include <string.h>
#include "core/msr.h"
#include "unit.h"

#define MAP_LEN	0x2000u

enum { READ = 1, WRITE = 2 };

struct range { u32 first, last, access; };

/* MSRs that a cell accesses without an exit */
static const struct range cell[] = {
	{ 0x10, 0x10, READ }, { 0x1b, 0x1b, READ },
	{ 0x48, 0x48, READ | WRITE }, { 0x49, 0x49, WRITE },
	{ 0x8b, 0x8b, READ }, { 0xe7, 0xe8, READ },
	{ 0xfe, 0xfe, READ }, { 0x174, 0x176, READ | WRITE },
	{ 0x200, 0x20f, READ }, { 0x250, 0x26f, READ },
	{ 0x277, 0x277, READ | WRITE }, { 0x2ff, 0x2ff, READ },
	{ 0x6e0, 0x6e0, READ | WRITE }, { 0x800, 0x82e, READ | WRITE }, { 0x82f, 0x830, READ },
	{ 0x831, 0x831, READ | WRITE }, { 0x832, 0x837, READ }, { 0x838, 0x83f, READ | WRITE },
	{ 0xda0, 0xda0, READ | WRITE },
	{ 0xc0000081, 0xc0000084, READ | WRITE }, { 0xc0000100, 0xc0000103, READ | WRITE },
	{ 0xc0010010, 0xc0010010, READ }, { 0xc0010015, 0xc0010015, READ },
	{ 0xc0010140, 0xc0010141, READ },
	{ 0xc0011029, 0xc0011029, READ },
};
/* MSRs that Linux does not access without an exit */
static const struct range not_linux[] = {
	{ 0x10, 0x10, WRITE }, { 0x1b, 0x1b, WRITE }, { 0x200, 0x20f, WRITE },
	{ 0x250, 0x26f, WRITE }, { 0x2ff, 0x2ff, WRITE },
	{ 0x830, 0x830, WRITE }, { 0xc81, 0xc81, WRITE }, { 0xc90, 0xd8f, WRITE },
	{ 0xc0000080, 0xc0000080, WRITE }, { 0xc0000104, 0xc0000104, WRITE },
	{ 0xc0000200, 0xc000028f, WRITE },
	{ 0xc0000400, 0xc00004ff, WRITE },
	{ 0xc0010010, 0xc0010010, WRITE }, { 0xc0010015, 0xc001001d, WRITE },
	{ 0xc0010020, 0xc0010020, READ | WRITE },
	{ 0xc0010050, 0xc0010058, WRITE },
	{ 0xc0010064, 0xc001006b, WRITE }, { 0xc0010073, 0xc0010073, WRITE },
	{ 0xc0010111, 0xc0010116, WRITE },
	{ 0xc0010117, 0xc0010119, READ | WRITE }, { 0xc0010130, 0xc001013f, WRITE },
	{ 0xc0011000, 0xc001102f, WRITE }, { 0xc0011040, 0xc00111ff, WRITE },
};
/*
 * MSRs that a cell must never write, whatever the lists above say, and those that it must not read
 */
static const struct range never[] = {
	{ 0x10, 0x10, WRITE }, { 0x1b, 0x1b, WRITE },
	{ 0x3a, 0x3b, READ | WRITE }, { 0x79, 0x79, WRITE },
	{ 0x8b, 0x8b, WRITE }, { 0x1a0, 0x1a0, WRITE },
	{ 0x200, 0x26f, WRITE }, { 0x2ff, 0x2ff, WRITE },
	{ 0x1d9, 0x1d9, WRITE }, { 0x400, 0x47f, READ | WRITE },
	{ 0x82f, 0x830, WRITE }, { 0x832, 0x837, WRITE },
	{ 0x840, 0x8ff, READ | WRITE }, { 0xc80, 0xd8f, WRITE }, { 0xc0000080, 0xc0000080, WRITE },
	{ 0xc0000104, 0xc0000104, WRITE }, { 0xc0000200, 0xc00004ff, WRITE },
	{ 0xc0010000, 0xc001001d, WRITE },
	{ 0xc0010020, 0xc0010020, WRITE }, { 0xc0010050, 0xc0010073, WRITE },
	{ 0xc0010111, 0xc001013f, READ | WRITE },
	{ 0xc0010200, 0xc00102ff, READ | WRITE }, { 0xc0011000, 0xc00110ff, WRITE },
};

static u32 find(const struct range *list, size_t num, u32 msr)
{
	size_t i;

	for (i = 0; i < num; i++)
		if (msr >= list[i].first && msr <= list[i].last)
			return list[i].access;
	return 0;
}
#define FIND(list, msr) find(list, sizeof(list) / sizeof(list[0]), msr)

/* APM vol. 2, 15.11: three ranges of 8192 MSRs, two bits each; a set bit intercepts. */
static u32 stopped(const u8 *map, u32 msr)
{
	u64 bit = 2 * (u64)(msr & 0x1fff) +
		  (msr >= 0xc0010000 ? 0x8000 : msr >= 0xc0000000 ? 0x4000 : 0);

	return map[bit / 8] >> bit % 8 & 3;
}

static const u32 starts[] = { 0, 0xc0000000, 0xc0010000 };

static void build(u8 *map, bool front_end)
{
	static struct instance inst;

	inst.id = !front_end;
	memset(inst.msr_map, 0x5a, MAP_LEN);
	msr_build(&inst);
	memcpy(map, inst.msr_map, MAP_LEN);
}

static void every_bit(void)
{
	u8 *map = malloc(MAP_LEN);
	u32 i, k, msr;

	for (i = 0; i < 2; i++) {
		build(map, i);
		for (k = 0; k < 3; k++)
			for (msr = starts[k]; msr < starts[k] + 0x2000; msr++) {
				u32 want = i ? FIND(not_linux, msr) : 3 & ~FIND(cell, msr);

				if (stopped(map, msr) == want)
					continue;
				unit_case("%s, MSR %#x:", i ? "Linux" : "cell", msr);
				CHECK_EQ(stopped(map, msr), want);
			}
		/* the reserved part of the map: all bytes must be equal */
		for (k = 0x1800; k < MAP_LEN; k++)
			CHECK_EQ(map[k], map[0x1800]);
	}
	free(map);
}

static void never_for_a_cell(void)
{
	u8 *map = malloc(MAP_LEN);
	u32 i, msr;

	build(map, false);
	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		for (msr = never[i].first; msr <= never[i].last; msr++) {
			unit_case("MSR %#x:", msr);
			CHECK_EQ(stopped(map, msr) & never[i].access, never[i].access);
		}
	free(map);
}

/* A cell may do nothing that Linux may not. */
static void a_cell_has_no_more(void)
{
	u8 *map = malloc(MAP_LEN), *linux_map = malloc(MAP_LEN);
	u32 i;

	build(map, false);
	build(linux_map, true);
	for (i = 0; i < MAP_LEN; i++)
		CHECK_EQ(linux_map[i] & ~map[i], 0);
	free(map);
	free(linux_map);
}

UNIT_SUITE(msr) = {
	{ "msr: every bit of both maps is as listed", every_bit },
	{ "msr: a cell never gets a forbidden MSR", never_for_a_cell },
	{ "msr: a cell has no more than Linux", a_cell_has_no_more },
	{ 0 }
};
