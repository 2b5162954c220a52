// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: the same as prove_msr.c for VT-x: every MSR has a row in the table. Two MSRs never
 *	share a bit of the permission map, nor do reads and writes, and no bit is outside it. No
 *	cell writes directly an MSR that would disable the monitor, move memory, or write to memory
 *	around EPT; Linux writes none of the listed ones
 * Bound: none: all 2^32 MSRs
 * Assumed: nothing
 * Enough: the lists below are kept apart from the table, and come from the manuals
 * Options: --unwind 120 --arrays-uf-always
 * Changed: hypervisor/core/msr.h: `extern const struct msr_rule vendor_msr_rules[];` -> ``: CBMC
 *	needs the length of an array
 * Mutation: hypervisor/vmx/msr.c: `msr - 0xc0000000 + 0x2000` -> `msr - 0xc0000000 + 0x1fff`: two
 *	MSRs share a place
 * Mutation: hypervisor/vmx/msr.c: `map += 0x800` -> `map += 0x400`: reads of some MSRs share bits
 *	with writes of others
 * Mutation: hypervisor/vmx/msr.c: `{ 0x00000000, LAST_ROW, { FAIL, FAIL }` ->
 *	`{ 0x00000001, LAST_ROW, { FAIL, FAIL }`: an MSR without a row
 * Mutation: hypervisor/vmx/msr.c: `{ 0x0000003a, 0x0000003a, { PASS, FAIL }` ->
 *	`{ 0x0000003a, 0x0000003a, { PASS, PASS }`: a cell locks VT-x
 * Mutation: hypervisor/vmx/msr.c: `{ 0x00000560, 0x00000570, { FAIL, FAIL }` ->
 *	`{ 0x00000562, 0x00000570, { FAIL, FAIL }`: a trace is written to any memory that Linux
 *	chooses
 */
#include "vmx/msr.c"
#include "core/msr.c"
#include "prove.h"

struct range { u32 first, last; };

/* SDM vol. 4, chapter 2: MSRs that a cell never writes directly */
static const struct range never[] = {
	{ 0x10, 0x10 }, { 0x1b, 0x1b }, { 0x3a, 0x3b }, { 0x79, 0x7a },
	{ 0x9b, 0x9e }, { 0xe2, 0xe4 }, { 0x150, 0x150 },
	{ 0x19a, 0x19c }, { 0x1a0, 0x1b2 }, { 0x1d9, 0x1d9 },
	{ 0x1f2, 0x1fc }, { 0x200, 0x26f }, { 0x2ff, 0x2ff },
	{ 0x38d, 0x38f }, { 0x3f1, 0x3f5 }, { 0x400, 0x493 },
	{ 0x560, 0x57f }, { 0x600, 0x660 }, { 0x6a0, 0x6a8 },
	{ 0x770, 0x777 }, { 0x830, 0x830 }, { 0x832, 0x837 },
	{ 0x840, 0x8ff }, { 0x981, 0x98a }, { 0xc80, 0xd9f },
	{ 0x1400, 0x1fff }, { 0x40000000, 0x4fffffff },
};

/* MSRs that Linux never writes directly */
static const struct range not_linux[] = {
	{ 0x1b, 0x1b }, { 0x3a, 0x3a }, { 0x79, 0x79 }, { 0x9b, 0x9b },
	{ 0x1f2, 0x1f5 }, { 0x200, 0x21f }, { 0x250, 0x26f },
	{ 0x3f1, 0x3f5 }, { 0x560, 0x570 },
	{ 0x830, 0x830 }, { 0x985, 0x98a }, { 0x17d0, 0x17d1 },
};

static bool within(const struct range *list, u32 num, u32 msr)
{
	u32 i;

	for (i = 0; i < num; i++)
		if (msr >= list[i].first && msr <= list[i].last)
			return true;
	return false;
}
#define ROWS	(sizeof(vendor_msr_rules) / sizeof(vendor_msr_rules[0]))
#define WITHIN(list, msr) within(list, sizeof(list) / sizeof(list[0]), msr)

static u8 map[0x1000];

/* SDM vol. 3, 25.6.9: reads of low MSRs, of high MSRs, then writes; 1 KiB each. 4: outside */
static u32 stopped(u32 msr)
{
	u32 at = (msr & 0x1fff) + (msr >= 0xc0000000 ? 0x2000 : 0);

	if ((msr & 0x3fffffff) > 0x1fff || (msr >> 30 != 0 && msr >> 30 != 3))
		return 4;
	return (map[at / 8] >> at % 8 & 1) | (map[0x800 + at / 8] >> at % 8 & 1) << 1;
}

int main(void)
{
	u32 msr = any_u32(), other = any_u32(), stop = any_u32() % 4;
	const struct msr_rule *r = rule_of(msr);
	bool placed;

	PROVE(r >= vendor_msr_rules && r < vendor_msr_rules + ROWS, "a row of the table");
	PROVE(msr >= r->first && msr <= r->last, "which covers the MSR");
	PROVE(r->front[0] != KEEP, "KEEP is for writes: front/msr.c");
	placed = vendor_msr_stop(map, msr, stop);
	PROVE(placed == (stopped(msr) != 4), "a place in the map, if the processor has one");
	PROVE(!placed || stopped(msr) == stop, "which the processor reads");
	PROVE(other == msr || stopped(other) == 0 || stopped(other) == 4,
	      "and which no other MSR has");
	PROVE(!WITHIN(never, msr) || r->cell[1] != PASS, "no cell writes it directly");
	PROVE(!WITHIN(not_linux, msr) || r->front[1] != PASS, "nor does Linux");
	return 0;
}
