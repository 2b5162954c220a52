// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: every MSR has a row in the table, and the search stays inside it. Two MSRs never share
 *	a place in the permission map, and no place is outside it. No cell writes directly an MSR
 *	that would disable the monitor or move memory. Linux writes no MSR directly that holds the
 *	monitor's state
 * Bound: none: all 2^32 MSRs
 * Assumed: nothing
 * Enough: the lists below are kept apart from the table, and come from the manuals
 * Options: --unwind 100
 * Quick: yes
 * Changed: hypervisor/core/msr.h: `extern const struct msr_rule vendor_msr_rules[];` -> ``: CBMC
 *	needs the length of an array
 * Mutation: hypervisor/svm/msr.c: `if (msr < 0x2000)` -> `if (msr <= 0x2000)`: two MSRs share a
 *	place
 * Mutation: hypervisor/svm/msr.c: `if (msr >= 0xc0010000 && msr < 0xc0012000)` ->
 *	`if (msr >= 0xc0010000)`: places outside the map are used
 * Mutation: hypervisor/svm/msr.c: `{ 0x00000000, LAST_ROW, { FAIL, FAIL }` ->
 *	`{ 0x00000001, LAST_ROW, { FAIL, FAIL }`: an MSR without a row
 * Mutation: hypervisor/svm/msr.c: `{ 0xc0010117, 0xc0010119, { FAIL, FAIL }` ->
 *	`{ 0xc0010117, 0xc0010119, { FAIL, PASS }`: a cell moves the host's save area
 * Mutation: hypervisor/svm/msr.c: `{ 0xc0010016, 0xc001001d, { FAIL, FAIL }` ->
 *	`{ 0xc0010016, 0xc0010019, { FAIL, FAIL }`: Linux writes TOP_MEM
 */
#include "svm/msr.c"
#include "core/msr.c"
#include "prove.h"

struct range { u32 first, last; };

/* APM vol. 2, appendix A: MSRs that a cell never writes directly */
static const struct range never[] = {
	{ 0x10, 0x10 }, { 0x1b, 0x1b }, { 0x3a, 0x3b }, { 0x79, 0x79 },
	{ 0x1a0, 0x1a0 }, { 0x1d9, 0x1d9 }, { 0x200, 0x26f },
	{ 0x2ff, 0x2ff }, { 0x400, 0x47f }, { 0x830, 0x830 },
	{ 0x832, 0x837 }, { 0xc80, 0xd8f }, { 0x40000000, 0x4fffffff },
	{ 0xc0000080, 0xc0000080 }, { 0xc0000104, 0xc0000104 },
	{ 0xc0000200, 0xc00004ff }, { 0xc0002000, 0xc0002fff },
	{ 0xc0010000, 0xc00100ff }, { 0xc0010111, 0xc001013f }, { 0xc0011000, 0xc00110ff },
};

/*
 * MSRs that Linux never writes directly: APIC mode and base, places of RAM and SMM, SVM's own MSRs
 */
static const struct range not_linux[] = {
	{ 0x1b, 0x1b }, { 0x830, 0x830 }, { 0xc0000080, 0xc0000080 },
	{ 0xc0010010, 0xc0010010 }, { 0xc0010016, 0xc001001d },
	{ 0xc0010111, 0xc0010118 },
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

int main(void)
{
	u32 msr = any_u32(), other = any_u32();
	const struct msr_rule *r = rule_of(msr);
	int bit = bit_of(msr);

	PROVE(r >= vendor_msr_rules && r < vendor_msr_rules + ROWS, "a row of the table");
	PROVE(msr >= r->first && msr <= r->last, "which covers the MSR");
	PROVE(r->front[0] != KEEP, "KEEP is for writes: front/msr.c");
	PROVE(bit >= -1 && bit / 8 < 0x1800 && bit % 2 <= 0, "a pair of bits of the map, or none");
	PROVE(bit < 0 || other == msr || bit_of(other) != bit, "which no other MSR has");
	PROVE(!WITHIN(never, msr) || r->cell[1] != PASS, "no cell writes it directly");
	PROVE(!WITHIN(not_linux, msr) || r->front[1] != PASS, "nor does Linux");
	return 0;
}
