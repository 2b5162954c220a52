// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes to the xAPIC page, from the exit on: core/xapic.c decodes, filters and carries them out.
 */
#include <string.h>
#include "core/apic.h"
#include "fake.h"
#include "svm/svm.h"
#include "unit.h"

#define RIP	0x5000ull
#define PAGE	0xfee00000ull

static u32 *real(u32 reg)		/* Returns the register of the fake APIC itself */
{
	return (u32 *)(QV_VA_APIC + reg);
}

/* Runs an exit as if the guest had executed these bytes and they wrote to @reg. */
static struct vmcb *run(u32 reg, const char *bytes, u32 len, u64 rax)
{
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);

	v->exit_code = EXIT_NPF;
	v->info1 = 7;
	v->info2 = PAGE + reg;
	v->exit_int_info = 0;
	v->rip = RIP;
	v->next_rip = 0x666;		/* next_rip is invalid at nested faults */
	v->cr0 = 0x11;
	v->cs.attrib = 0xc9b;
	v->cs.base = 0;
	v->efer = EFER_SVME;
	v->rax = rax;
	memset(v->bytes, 0x90, sizeof(v->bytes));
	memset(fake_ram + RIP, 0x90, 16);
	v->num_bytes = 15;
	memcpy(me()->boot.decode ? v->bytes : fake_ram + RIP, bytes, len);
	svm_exit(cpu);
	return v;
}

#define STORE	"\x89\x07", 2			/* bytes of mov %eax,(%edi) */
#define XCHG	"\x87\x07", 2
#define OR	"\x09\x07", 2
#define AND	"\x21\x07", 2
#define CONST	"\xc7\x07\x44\x33\x22\x11", 6
#define XCHG_ESP	"\x87\x27", 2		/* bytes of xchg %esp,(%edi) */
#define ADD	"\x01\x07", 2

static void prepare(bool assists, bool cell)
{
	u32 level;

	fake_open(false, assists);
	if (cell) {
		fake_become_cell();
		*paging_entry(&me()->nested, RIP, 1) = (RIP & -4096) | PT_P | PT_U | PT_W;
		CHECK(*paging_find(&me()->nested, RIP, 1, &level) & PT_P);
	}
}

static void operations(void)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		struct pcpu *cpu = pcpu_of(0);
		struct vmcb *v;

		prepare(i & 1, i & 2);
		unit_case("%s, %s assists:", i & 2 ? "cell" : "Linux", i & 1 ? "with" : "without");
		v = run(0xb0, STORE, 0x1234567812345678);
		CHECK_EQ(*real(0xb0), 0x12345678);
		CHECK_EQ(v->rip, RIP + 2);
		CHECK_EQ(v->event_inj, 0);
		CHECK_EQ(cpu->status->exits[QV_EXIT_XAPIC], 1);
		v = run(0xf0, CONST, 0);
		CHECK_EQ(*real(0xf0), 0x11223344);
		CHECK_EQ(v->rip, RIP + 6);
		v = run(0xf0, OR, 0x400);
		CHECK_EQ(*real(0xf0), 0x11223744);
		v = run(0xf0, AND, 0xff);
		CHECK_EQ(*real(0xf0), 0x44);
		*real(0x80) = 0x99;
		v = run(0x80, XCHG, ~0ull);
		CHECK_EQ(*real(0x80), ~0u);
		/* the 32-bit write clears the upper half of the register */
		CHECK_EQ(v->rax, 0x99);
		v = run(0x20, STORE, 0x07000000);
		CHECK_EQ(*real(0x20), 0);	/* the write does not change the id */
		CHECK_EQ(v->rip, RIP + 2);
		run(0xd0, STORE, 0x05000000);
		CHECK_EQ(me()->icr.ldr[0], 5);
		run(0xe0, STORE, 0x0fffffff);
		CHECK_EQ(me()->icr.cluster, 1);
		run(0xe0, STORE, 0xffffffff);
		CHECK_EQ(me()->icr.cluster, 0);
		CHECK_EQ(my_status()->state, QV_MON_RUNNING);
	}
}

static void commands(void)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		struct vmcb *v;

		prepare(i & 1, i & 2);
		unit_case("%s, %s assists:", i & 2 ? "cell" : "Linux", i & 1 ? "with" : "without");
		run(0x310, STORE, 0x04000000);
		/* the register holds the guest's value: direct IPIs may begin or end here */
		CHECK_EQ(*real(0x310), 0x04000000);
		v = run(0x310, XCHG, 0x02000000);
		CHECK_EQ(v->rax, 0x04000000);	/* the guest reads back the value that it wrote */
		run(0x300, STORE, 0x40f1);
		CHECK_EQ(*real(0x310), 0x02000000);
		CHECK_EQ(*real(0x300), 0x40f1);
		/* to all CPUs, logical: three physical commands, and the guest's value again */
		run(0x300, STORE, 0x8c8f2);
		CHECK_EQ(*real(0x310), 0x02000000);
		CHECK_EQ(*real(0x300), 0x40f2);
		*real(0x300) = *real(0x310) = 0;
		run(0x300, STORE, 0x4200);	/* SMI */
		CHECK_EQ(*real(0x300), 0);
		CHECK_EQ(my_status()->state, QV_MON_RUNNING);
		run(0x310, STORE, 0x03000000);	/* the destination is an id of no CPU */
		v = run(0x300, STORE, 0x40f1);
		/* QV stops the other CPUs of the cell */
		CHECK_EQ(*real(0x300), i & 2 ? 0x4400 : 0);
		CHECK_EQ(my_status()->state, i & 2 ? QV_MON_FAILED : QV_MON_RUNNING);
		CHECK_EQ(v->rip, i & 2 ? 0 : RIP + 2);
	}
}

/* OR and AND set RFLAGS as the processor would; a store changes none. */
static void flags(void)
{
	static const struct { const char *code; u32 was, operand, flags; } rows[] = {
		{ "\x09\x07", 0x0, 0x0, 0x44 },
		{ "\x09\x07", 0x1, 0x2, 0x4 }, { "\x09\x07", 0x1, 0x0, 0 },
		{ "\x09\x07", 0x80000000, 0x1, 0x80 }, { "\x21\x07", 0xff, 0x100, 0x44 },
		{ "\x21\x07", ~0u, 0x80000003, 0x84 },
		{ "\x89\x07", 0, 0, 0x8d5 }, { "\x87\x07", 0, 0, 0x8d5 },
	};
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vmcb *v;

		prepare(true, false);
		unit_case("row %u:", i);
		*real(0x80) = rows[i].was;
		vmcb_of(pcpu_of(0))->rflags = 0x200202 | 0x8d5;
		v = run(0x80, rows[i].code, 2, rows[i].operand);
		CHECK_EQ(v->rflags, 0x200202 | rows[i].flags);
	}
	prepare(true, false);
	*real(0x80) = 0x1234;
	vmcb_of(pcpu_of(0))->rsp = 0x99;
	CHECK_EQ(run(0x80, XCHG_ESP, 0)->rsp, 0x1234);
	CHECK_EQ(*real(0x80), 0x99);
}

/* Values that a cell may not write to its APIC, and registers whose writes stay in the monitor */
static void of_a_cell(void)
{
	static const struct { u32 reg, value; bool fine; } rows[] = {
		{ 0x320, 0x200ff, true }, { 0x340, 0x400, true },
		{ 0x350, 0x10700, true }, { 0x350, 0x700, false },
		{ 0x360, 0x200, false }, { 0x370, 0x500, false },
		{ 0x330, 0x500, false }, { 0x2f0, 0x200, false },
		{ 0x380, 0x700, true }, { 0x3e0, 0xb, true },
		{ 0x500, 0x10000, false }, { 0x530, 0x200, false },
		{ 0x400, 0, false }, { 0xff0, 0, false },
	};
	u32 i;

	for (i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		bool cell = i & 1, fine = rows[i / 2].fine || !cell;

		prepare(true, cell);
		unit_case("%s, %#x to %#x:", cell ? "cell" : "Linux", rows[i / 2].value,
			  rows[i / 2].reg);
		*real(rows[i / 2].reg) = 0x5a5a;
		run(rows[i / 2].reg, STORE, rows[i / 2].value);
		CHECK_EQ(*real(rows[i / 2].reg), fine ? rows[i / 2].value : 0x5a5a);
		CHECK_EQ(my_status()->state, fine ? QV_MON_RUNNING : QV_MON_FAILED);
	}
	prepare(true, true);
	*real(0xd0) = 0;
	run(0xd0, STORE, 0xff000000);
	/*
	 * the monitor uses the value for the cell's own IPIs; device messages to that id are for
	 * Linux
	 */
	CHECK_EQ(me()->icr.ldr[0], 0xff);
	CHECK_EQ(*real(0xd0), 0);
}

static void not_understood(void)
{
	struct vmcb *v;

	prepare(true, false);
	v = run(0xb0, ADD, 1);
	CHECK_EQ(v->event_inj, EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 13);
	CHECK_EQ(v->rip, RIP);
	prepare(true, true);
	run(0xb0, ADD, 1);
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
	CHECK_EQ(my_status()->failure.reason, QV_FAIL_MEMORY);
	CHECK_EQ(my_status()->failure.address, PAGE + 0xb0);
	prepare(false, true);			/* the code is not mapped and cannot be read */
	*paging_entry(&me()->nested, RIP, 1) = 0;
	run(0xb0, STORE, 1);
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
}

/*
 * Linux's local vector table and AMD's extended vectors are cleared for the next guest. Only
 * registers that exist are written.
 */
static void hand_over(void)
{
	static const struct { u32 version, lvts; bool cmci, extended; } rows[] = {
		{ 0x00050014, 4, false, false }, { 0x00060015, 4, true, false },
		{ 0x80050010, 4, false, true }, { 0x80060010, 2, true, true },
	};
	u32 i, k, num;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		prepare(true, false);
		unit_case("version %#x:", rows[i].version);
		num = rows[i].extended ? rows[i].lvts : 0;
		*real(0x30) = rows[i].version;
		*real(0x400) = rows[i].lvts << 16 | 7;
		*real(0x410) = 7;				/* IER, SEOI, ids of eight bits */
		*real(0x2f0) = 0x0200;				/* the LVT entry CMCI, as an SMI */
		for (k = 0; k < 4; k++)
			*real(0x500 + k * 16) = 0x0400;		/* NMI */
		for (k = 0x320; k <= 0x370; k += 16)
			*real(k) = 0x40;
		pcpu_of(0)->apic_id = 6;
		*real(0x20) = 0x55000000;			/* the guest has changed its id */
		apic_hand_over(pcpu_of(0));
		CHECK_EQ(*real(0x20), 6u << 24);
		CHECK_EQ(*real(0x2f0) >> 16, rows[i].cmci);
		CHECK_EQ(*real(0x410), rows[i].extended ? 4 : 7);
		for (k = 0; k < 4; k++)
			CHECK_EQ(*real(0x500 + k * 16) >> 16, k < num);
		for (k = 0x320; k <= 0x370; k += 16)
			CHECK_EQ(*real(k) >> 16, 1);
	}
}

#define BASE	0xfee00900ull		/* enabled, the boot CPU */
#define EXTD	0x400ull

static u32 base_writes;

/* The processor refuses to go from x2APIC to xAPIC mode at once (#GP). */
static void note_base(u64 old, u64 value)
{
	base_writes++;
	CHECK(!(old & EXTD) || (value & EXTD) || !(value & 0x800));
	CHECK((value & 0x800) || !(value & EXTD));
	CHECK_EQ((old ^ value) & ~0xc00ull, 0);
}

/* A CPU comes into the mode of its new instance; to xAPIC mode only through the disabled state. */
static void modes(void)
{
	static const struct { bool x2apic; u64 before, after; u32 writes; } rows[] = {
		{ false, BASE, BASE, 0 }, { true, BASE, BASE | EXTD, 1 },
		{ true, BASE | EXTD, BASE | EXTD, 0 }, { false, BASE | EXTD, BASE, 2 },
	};
	u64 usual = fake_apic_base;
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_open(rows[i].x2apic, true);
		unit_case("%s, %#lx:", rows[i].x2apic ? "x2APIC" : "xAPIC", rows[i].before);
		fake_apic_base = rows[i].before;
		base_writes = 0;
		fake_on_base = note_base;
		apic_hand_over(pcpu_of(0));
		fake_on_base = NULL;
		CHECK_EQ(fake_apic_base, rows[i].after);
		CHECK_EQ(base_writes, rows[i].writes);
	}
	fake_apic_base = usual;
}

UNIT_SUITE(xapic) = {
	{ "xapic: stores, exchanges, OR and AND are carried out", operations },
	{ "xapic: interrupt commands are filtered", commands },
	{ "xapic: flags and the stack pointer are right", flags },
	{ "xapic: a cell may not write every register", of_a_cell },
	{ "xapic: unknown instructions are rejected", not_understood },
	{ "xapic: a CPU that changes its instance is cleared", hand_over },
	{ "xapic: a CPU that changes its instance gets the mode of the new one", modes },
	{ 0 }
};
