// SPDX-License-Identifier: GPL-2.0-only
/*
 * vmx/msr.c: each bit of the permission map, compared with lists that are kept apart from the code.
 */
#include <string.h>
#include "core/msr.h"
#include "unit.h"

#define MAP_LEN	0x1000u

enum { READ = 1, WRITE = 2 };

struct range { u32 first, last, access; };

/* MSRs that a cell accesses without an exit */
static const struct range cell[] = {
	{ 0x10, 0x10, READ }, { 0x17, 0x17, READ }, { 0x1b, 0x1b, READ },
	{ 0x33, 0x34, READ }, { 0x3a, 0x3b, READ },
	{ 0x48, 0x48, READ | WRITE }, { 0x49, 0x49, WRITE },
	{ 0x7b, 0x7b, READ }, { 0x8b, 0x8b, READ },
	{ 0xbd, 0xbd, READ }, { 0xcd, 0xcf, READ }, { 0xe1, 0xe2, READ },
	{ 0xe7, 0xe8, READ }, { 0xfe, 0xfe, READ },
	{ 0x10a, 0x10a, READ }, { 0x10b, 0x10b, WRITE },
	{ 0x10f, 0x10f, READ }, { 0x122, 0x123, READ },
	{ 0x140, 0x140, READ }, { 0x174, 0x176, READ | WRITE },
	{ 0x198, 0x198, READ }, { 0x1a0, 0x1a0, READ },
	{ 0x1c4, 0x1c5, READ | WRITE }, { 0x1d9, 0x1d9, READ },
	{ 0x1fc, 0x1fc, READ }, { 0x200, 0x21f, READ },
	{ 0x250, 0x26f, READ }, { 0x277, 0x277, READ | WRITE },
	{ 0x2ff, 0x2ff, READ }, { 0x6e0, 0x6e0, READ | WRITE },
	{ 0x800, 0x82e, READ | WRITE }, { 0x82f, 0x830, READ },
	{ 0x831, 0x831, READ | WRITE }, { 0x832, 0x837, READ },
	{ 0x838, 0x83f, READ | WRITE }, { 0xda0, 0xda0, READ | WRITE },
	{ 0xc0000080, 0xc0000084, READ | WRITE }, { 0xc0000100, 0xc0000103, READ | WRITE },
};

/* SDM vol. 4, chapter 2: MSRs that a cell never writes directly */
static const struct range never[] = {
	{ 0x10, 0x10, WRITE }, { 0x1b, 0x1b, WRITE }, { 0x3a, 0x3b, WRITE },
	{ 0x79, 0x7a, WRITE }, { 0x8b, 0x8b, WRITE },
	{ 0x9b, 0x9e, WRITE }, { 0xe2, 0xe4, WRITE },
	{ 0x150, 0x150, WRITE }, { 0x19a, 0x19c, WRITE },
	{ 0x1a0, 0x1b2, WRITE }, { 0x1d9, 0x1d9, WRITE },
	{ 0x1f2, 0x1fc, WRITE }, { 0x200, 0x276, WRITE },
	{ 0x2ff, 0x2ff, WRITE }, { 0x38d, 0x38f, READ | WRITE }, { 0x3f1, 0x3f5, READ | WRITE },
	{ 0x400, 0x47f, READ | WRITE }, { 0x480, 0x493, READ | WRITE },
	{ 0x560, 0x57f, READ | WRITE },
	{ 0x600, 0x660, READ | WRITE }, { 0x6a0, 0x6a8, READ | WRITE },
	{ 0x770, 0x777, WRITE }, { 0x82f, 0x830, WRITE },
	{ 0x832, 0x837, WRITE }, { 0x840, 0x8ff, READ | WRITE }, { 0x981, 0x98a, READ | WRITE },
	{ 0xc80, 0xd9f, READ | WRITE }, { 0x1400, 0x1fff, READ | WRITE },
};

/*
 * Linux never writes these MSRs directly. They would disable the monitor, or make the processor
 * write to memory around EPT.
 */
static const struct range not_linux[] = {
	{ 0x10, 0x10, WRITE }, { 0x1b, 0x1b, WRITE }, { 0x3a, 0x3b, WRITE },
	{ 0x79, 0x79, READ | WRITE }, { 0x80, 0x80, WRITE }, { 0x9b, 0x9b, WRITE },
	{ 0x1a0, 0x1a0, WRITE }, { 0x1f2, 0x1f5, WRITE },
	{ 0x200, 0x21f, WRITE }, { 0x250, 0x26f, WRITE },
	{ 0x2a0, 0x2f5, WRITE }, { 0x2ff, 0x2ff, WRITE }, { 0x3f1, 0x3f5, WRITE },
	{ 0x560, 0x570, WRITE }, { 0x601, 0x65c, WRITE }, { 0x770, 0x772, WRITE },
	{ 0x830, 0x830, WRITE }, { 0x981, 0x98a, WRITE },
	{ 0xc80, 0xc83, WRITE }, { 0xc90, 0xd8f, WRITE },
	{ 0x17d0, 0x17d1, WRITE },
};

/* Linux must write these MSRs directly, for speed: timer, APIC, FPU and scheduling */
static const struct range linux_direct[] = {
	{ 0x10, 0x10, READ }, { 0x48, 0x49, READ | WRITE },
	{ 0x6e0, 0x6e0, READ | WRITE }, { 0x800, 0x82f, READ | WRITE },
	{ 0x830, 0x830, READ }, { 0x831, 0x83f, READ | WRITE },
	{ 0x186, 0x18d, READ | WRITE }, { 0x38f, 0x38f, READ | WRITE },
	{ 0x774, 0x774, READ | WRITE }, { 0xc0000080, 0xc0000103, READ | WRITE },
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

/* SDM vol. 3, 25.6.9: reads of low MSRs, of high MSRs, then writes; 1 KiB each */
static u32 stopped(const u8 *map, u32 msr)
{
	u32 at = (msr & 0x1fff) + (msr >= 0xc0000000 ? 0x2000 : 0);

	return (map[at / 8] >> at % 8 & 1) | (map[0x800 + at / 8] >> at % 8 & 1) << 1;
}

static const u8 *build(bool front_end)
{
	static struct instance inst;

	inst.id = !front_end;
	memset(inst.msr_map, 0x5a, sizeof(inst.msr_map));
	msr_build(&inst);
	return inst.msr_map;
}

static const u32 starts[] = { 0, 0xc0000000 };

static void every_bit(void)
{
	const u8 *map = build(false);
	u32 k, msr;

	for (k = 0; k < 2; k++)
		for (msr = starts[k]; msr < starts[k] + 0x2000; msr++) {
			if (stopped(map, msr) == (3 & ~FIND(cell, msr)))
				continue;
			unit_case("MSR %#x:", msr);
			CHECK_EQ(stopped(map, msr), 3 & ~FIND(cell, msr));
		}
}

static void check_ranges(const u8 *map, const struct range *list, size_t num, bool stop)
{
	size_t i;
	u32 msr;

	for (i = 0; i < num; i++)
		for (msr = list[i].first; msr <= list[i].last; msr++) {
			unit_case("MSR %#x:", msr);
			CHECK_EQ(stopped(map, msr) & list[i].access, stop ? list[i].access : 0);
		}
}

static void never_for_a_cell(void)
{
	check_ranges(build(false), never, sizeof(never) / sizeof(never[0]), true);
}

static void kept_from_linux(void)
{
	check_ranges(build(true), not_linux, sizeof(not_linux) / sizeof(not_linux[0]), true);
	check_ranges(build(true), linux_direct, sizeof(linux_direct) / sizeof(linux_direct[0]),
		     false);
}

/* A cell may do nothing that Linux may not. */
static void a_cell_has_no_more(void)
{
	u8 map[MAP_LEN];
	const u8 *linux_map;
	u32 i;

	memcpy(map, build(false), MAP_LEN);
	linux_map = build(true);
	for (i = 0; i < MAP_LEN; i++) {
		unit_case("byte %#x:", i);
		CHECK_EQ(linux_map[i] & ~map[i], 0);
	}
}

/* Each MSR in the map's ranges has a separate place, and no other MSR has one. */
static void places(void)
{
	static const u32 outside[] = {
		0x2000, 0x3fffffff, 0x40000000, 0x80000000, 0xbfffffff, 0xc0002000, 0xffffffff
	};
	u8 map[MAP_LEN];
	u32 i, k, msr, bits;

	for (i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		unit_case("MSR %#x:", outside[i]);
		CHECK(!vendor_msr_stop(map, outside[i], 3));
	}
	for (k = 0; k < 2; k++)
		for (msr = starts[k]; msr < starts[k] + 0x2000; msr += 1 + msr % 37) {
			memset(map, 0, sizeof(map));
			unit_case("MSR %#x:", msr);
			CHECK(vendor_msr_stop(map, msr, 3));
			for (i = bits = 0; i < MAP_LEN; i++)
				bits += __builtin_popcount(map[i]);
			CHECK_EQ(bits, 2);
			CHECK_EQ(stopped(map, msr), 3);
			CHECK(vendor_msr_stop(map, msr, 1));
			CHECK_EQ(stopped(map, msr), 1);
			CHECK(vendor_msr_stop(map, msr, 2));
			CHECK_EQ(stopped(map, msr), 2);
		}
}

UNIT_SUITE(vmx_msr) = {
	{ "vmx msr: every bit of a cell's map is as listed", every_bit },
	{ "vmx msr: a cell never gets a forbidden MSR", never_for_a_cell },
	{ "vmx msr: Linux gets its MSRs and no forbidden one", kept_from_linux },
	{ "vmx msr: a cell has no more than Linux", a_cell_has_no_more },
	{ "vmx msr: each MSR has its own place in the map", places },
	{ 0 }
};
