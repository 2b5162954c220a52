// SPDX-License-Identifier: GPL-2.0-only
/* core/gmem.c: finds the guest's code by the guest's page tables, in every paging mode. */
#include <string.h>
#include "core/gmem.h"
#include "fake.h"
#include "svm/svm.h"
#include "unit.h"

#define TABLES	0x400000ull		/* the guest's tables begin here, one page each */
#define CODE	0x20f0000ull	/* guest-physical address of the code; its two pages are apart */
#define FAR	0x3111000ull

enum leaf_size { SMALL, LARGE, GIANT };

static const struct mode {
	const char *name;
	u64 cr4, efer;
	u32 levels, bits;		/* levels of the tables; address bits per level */
	enum leaf_size size;
	u64 va;
	bool long_code;
} modes[] = {
	{ "two levels", 0, 0, 2, 10, SMALL, 0xc0123ffd, false },
	{ "two levels, 4 MiB", CR4_PSE, 0, 2, 10, LARGE, 0xc0123ffd, false },
	{ "PAE", CR4_PAE, 0, 3, 9, SMALL, 0xc0123ffd, false },
	{ "PAE, 2 MiB", CR4_PAE, 0, 3, 9, LARGE, 0xc0123ffd, false },
	{ "long", CR4_PAE, EFER_LMA, 4, 9, SMALL, 0xffffffff81234ffd, true },
	{ "long, 2 MiB", CR4_PAE, EFER_LMA, 4, 9, LARGE, 0xffffffff81234ffd, true },
	{ "long, 1 GiB", CR4_PAE, EFER_LMA, 4, 9, GIANT, 0xffff888001234ffd, true },
	{ "long, compatibility", CR4_PAE, EFER_LMA, 4, 9, SMALL, 0x81234ffd, false },
	{ "five levels", CR4_PAE | CR4_LA57, EFER_LMA, 5, 9, SMALL, 0xff11000001234ffd, true },
};

static u64 next_table;

static void put_entry(const struct mode *m, u64 table, u64 index, u64 value)
{
	memcpy(fake_ram + table + index * (m->bits == 9 ? 8 : 4), &value, m->bits == 9 ? 8 : 4);
}

static u64 get_entry(const struct mode *m, u64 table, u64 index)
{
	u64 value = 0;

	memcpy(&value, fake_ram + table + index * (m->bits == 9 ? 8 : 4), m->bits == 9 ? 8 : 4);
	return value;
}

static u64 root(const struct mode *m)
{
	/* PAE: the root has four entries and is aligned to 32 bytes */
	return TABLES + (m->levels == 3 ? 0x60 : 0);
}

/* Maps @va to @pa. The address bits below the leaf's size must be equal in both. */
static void map_guest(const struct mode *m, u64 va, u64 pa)
{
	u32 level, last = m->size == GIANT ? 3 : m->size == LARGE ? 2 : 1;
	u64 table = root(m);

	for (level = m->levels; ; level--) {
		u32 shift = 12 + m->bits * (level - 1);
		u64 index = va >> shift & ((1u << m->bits) - 1);

		if (level == last) {
			put_entry(m, table, index,
				  (pa & -(1ull << shift)) | 0x63 | (level > 1 ? 0x80 : 0));
			return;
		}
		if (!(get_entry(m, table, index) & 1)) {
			put_entry(m, table, index, next_table | 0x63);
			next_table += 4096;
		}
		table = get_entry(m, table, index) & 0xfffff000;
	}
}

/* movl $0x11223344,(%edi) with a prefix; its constant is on the next page */
static void put_code(const struct mode *m, u64 *rip)
{
	static const u8 code[] = { 0x3e, 0xc7, 0x07, 0x44, 0x33, 0x22, 0x11 };
	u64 span = m->size == GIANT ? 1u << 30 : m->size == LARGE ? 1ull << (12 + m->bits) : 4096;
	u64 first = CODE & -span, second = m->size == SMALL ? FAR : first;
	u32 i;

	if (m->size == GIANT)
		first = second = 0;		/* RAM is small: it is all in the first GiB */
	map_guest(m, m->va, first | (m->va & (span - 1)));
	map_guest(m, m->va + 3, second | ((m->va + 3) & (span - 1)));
	for (i = 0; i < sizeof(code); i++) {
		u64 va = m->va + i, page = va >> 12 == m->va >> 12 ? first : second;

		fake_ram[(page | (va & (span - 1))) % FAKE_RAM] = code[i];
	}
	*rip = m->va;
}

static void all_modes(void)
{
	u32 i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		const struct mode *m = &modes[i];
		struct vmcb *v = vmcb_of(pcpu_of(0));
		u64 top;

		unit_case("%s:", m->name);
		fake_open(false, false);
		next_table = TABLES + 4096;
		memset(fake_ram + TABLES, 0, 0x10000);
		put_code(m, &v->rip);
		v->cr0 = CR0_PE | CR0_PG;
		v->cr3 = root(m);
		v->cr4 = m->cr4;
		v->efer = EFER_SVME | m->efer;
		v->cs.attrib = m->long_code ? 0xa9b : 0xc9b;
		v->cs.base = 0;
		v->exit_code = EXIT_NPF;
		v->info1 = 6;
		v->info2 = 0xfee000b0;
		v->exit_int_info = 0;
		svm_exit(pcpu_of(0));
		CHECK_EQ(v->event_inj, 0);
		CHECK_EQ(v->rip, m->va + 7);
		CHECK_EQ(*(u32 *)(QV_VA_APIC + 0xb0), 0x11223344);

		/*
		 * Only the present bit is clear: the instruction cannot be read, and the monitor
		 * does not guess it.
		 */
		top = m->va >> (12 + m->bits * (m->levels - 1)) & ((1u << m->bits) - 1);
		put_entry(m, root(m), top, get_entry(m, root(m), top) & ~1ull);
		v->rip = m->va;
		*(u32 *)(QV_VA_APIC + 0xb0) = 0;
		svm_exit(pcpu_of(0));
		CHECK_EQ(*(u32 *)(QV_VA_APIC + 0xb0), 0);
		CHECK_EQ(v->rip, m->va);
		CHECK(v->event_inj);
	}
}

/* The guest has random tables. The monitor must read the guest's own memory only. */
static void tables_of_noise(void)
{
	u32 round, i;

	fake_open(false, false);
	for (round = 0; round < 3000; round++) {
		const struct mode *m = &modes[rnd_below(sizeof(modes) / sizeof(modes[0]))];
		struct vmcb *v = vmcb_of(pcpu_of(0));
		u8 bytes[16];
		u32 got;

		for (i = 0; i < 0x2000; i += 8) {
			u64 entry = rnd_below(FAKE_RAM * 2ull) | (rnd() & 1) << 7 | !!(rnd() & 7);

			if (!rnd_below(8))
				entry ^= rnd();
			memcpy(fake_ram + TABLES + i, &entry, 8);
		}
		v->cr0 = CR0_PE | CR0_PG;
		v->cr3 = rnd() & 7 ? TABLES : rnd();
		v->cr4 = m->cr4;
		v->efer = EFER_SVME | m->efer;
		v->cs.base = rnd() & 1 ? 0 : rnd() & 0xffffffff;
		v->rip = rnd();
		got = guest_code(pcpu_of(0), 0, bytes, 15);
		CHECK(got <= 15);
	}
}

/* The guest's code or tables are in the APIC's page. The monitor must not read them there. */
static void not_the_apic(void)
{
	struct vmcb *v;
	u8 bytes[16];

	fake_open(false, false);
	v = vmcb_of(pcpu_of(0));
	v->cr0 = CR0_PE;
	v->cr4 = CR4_PAE;
	v->efer = EFER_SVME;
	v->cs.base = 0;
	v->rip = CODE;
	CHECK_EQ(guest_code(pcpu_of(0), 0, bytes, 15), 15);
	v->rip = 0xfedffff8;
	CHECK_EQ(guest_code(pcpu_of(0), 0, bytes, 15), 8);
	v->rip = 0xfee00020;
	CHECK_EQ(guest_code(pcpu_of(0), 0, bytes, 15), 0);
	v->rip = 0xfee00ffc;
	CHECK_EQ(guest_code(pcpu_of(0), 0, bytes, 15), 0);
	v->rip = CODE;
	v->cr0 = CR0_PE | CR0_PG;
	v->efer = EFER_SVME | EFER_LMA;
	v->cr3 = 0xfee00000;
	CHECK_EQ(guest_code(pcpu_of(0), 0, bytes, 15), 0);
	CHECK(!guest_copy_phys(pcpu_of(0), bytes, 0xfee00ff8, 16));
	/* where a cell has channels, which other ends write */
	CHECK(!guest_copy_phys(pcpu_of(0), bytes, QV_CHANNEL_GPA, 8));
	CHECK(!guest_copy_phys(pcpu_of(0), bytes, 0xfffffff8, 8));
	v->cr3 = QV_CHANNEL_GPA + QV_PAGE;
	CHECK_EQ(guest_code(pcpu_of(0), 0, bytes, 15), 0);
}

UNIT_SUITE(guest) = {
	{ "guest: code is found in every mode of paging", all_modes },
	{ "guest: random tables lead to its own memory only", tables_of_noise },
	{ "guest: the APIC's page and channels are never read", not_the_apic },
	{ 0 }
};
