// SPDX-License-Identifier: GPL-2.0-only
/* The values that CPUID and MSR accesses give, and the values that MSRs accept: exits of CPU 0. */
#include <string.h>
#include "cell/cell.h"
#include "fake.h"
#include "svm/svm.h"
#include "unit.h"

#define GP	(EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 13)

/* Handles an exit on a processor without decode assists. Returns edx:eax. */
static u64 exit_with(u64 code, u64 info1, u64 rax, u64 rcx, u64 rdx)
{
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);

	v->exit_code = code;
	v->info1 = info1;
	v->info2 = 0;
	v->exit_int_info = 0;
	v->rip = 0x5000;
	v->next_rip = 0x666;		/* an invalid value, which must be ignored */
	v->rsp = 0x7000;
	v->cr0 = 0x11;			/* protected mode, no paging, flat segments */
	v->cpl = 0;
	v->rax = rax;
	cpu->regs[GPR_RCX] = rcx | 0x5500000000ull;	/* the upper halves must be ignored */
	cpu->regs[GPR_RDX] = rdx | 0x6600000000ull;
	cpu->regs[GPR_RDI] = 0;
	svm_exit(cpu);
	return (u32)cpu->regs[GPR_RAX] | cpu->regs[GPR_RDX] << 32;
}

static void cpuid_of_a_cell(void)
{
	struct pcpu *cpu = pcpu_of(0);
	u32 real[4];

	fake_open(true, true);
	fake_become_cell();
	exit_with(EXIT_CPUID, 0, 0x40000000, 0, 0);
	CHECK_EQ(cpu->regs[GPR_RAX], 0x40000001);
	CHECK(!memcmp(&cpu->regs[GPR_RBX], "QVQu", 4) && !memcmp(&cpu->regs[GPR_RCX], "estV", 4) &&
	      !memcmp(&cpu->regs[GPR_RDX], "-QV ", 4));
	exit_with(EXIT_CPUID, 0, 0x40000001, 0, 0);
	CHECK_EQ(cpu->regs[GPR_RAX], QV_INFO_GPA);
	CHECK_EQ(cpu->regs[GPR_RBX], QV_INFO_ABI);
	exit_with(EXIT_CPUID, 0, 0x80000001, 0, 0);
	CHECK_EQ(cpu->regs[GPR_RCX] & 1 << 2, 0);		/* no SVM */
	exit_with(EXIT_CPUID, 0, 0x8000000a, 0, 0);
	CHECK_EQ(cpu->regs[GPR_RAX] | cpu->regs[GPR_RDX], 0);
	exit_with(EXIT_CPUID, 0, 1, 0, 0);
	cpuid(1, 0, real);
	CHECK_EQ(cpu->regs[GPR_RAX], real[0]);
	CHECK_EQ(cpu->regs[GPR_RCX] & (1u << 31 | 1u << 27 | 1u << 5), 1u << 31);
	vmcb_of(cpu)->cr4 = 1 << 18;
	exit_with(EXIT_CPUID, 0, 1, 0, 0);
	/* OSXSAVE mirrors the guest's CR4 */
	CHECK_EQ(cpu->regs[GPR_RCX] & 1u << 27, 1u << 27);
}

/* the four registers of CPUID: @guest has the values for the guest, @real those of the processor */
static void ask(u32 leaf, u32 sub, u32 guest[4], u32 real[4])
{
	const struct pcpu *cpu = pcpu_of(0);

	exit_with(EXIT_CPUID, 0, leaf, sub, 0);
	guest[0] = cpu->regs[GPR_RAX], guest[1] = cpu->regs[GPR_RBX];
	guest[2] = cpu->regs[GPR_RCX], guest[3] = cpu->regs[GPR_RDX];
	cpuid(leaf, sub, real);
}

/* CPUID offers no feature whose MSRs a cell lacks. Sub-leaves have their own rules. */
static void cpuid_hides(void)
{
	static const u32 zero[] = { 0x0a, 0x0f, 0x10, 0x12, 0x14, 0x19, 0x1b, 0x1c };
	u32 g[4], r[4], i;

	fake_open(true, true);
	fake_become_cell();
	for (i = 0; i < sizeof(zero) / sizeof(zero[0]); i++) {
		unit_case("leaf %#x:", zero[i]);
		ask(zero[i], 0, g, r);
		CHECK_EQ(g[0] | g[1] | g[2] | g[3], 0);
	}
	unit_case("leaves 1, 6, 7:");
	ask(1, 0, g, r);
	CHECK_EQ(g[2] & 0x81f4, 0);
	CHECK_EQ(g[3], r[3] & ~(1u << 21 | 1u << 22 | 1u << 29));
	ask(6, 0, g, r);
	CHECK_EQ(g[0], r[0] & 4);
	CHECK_EQ(g[1] | g[2] | g[3], 0);
	ask(7, 0, g, r);
	CHECK_EQ(g[1], r[1] & ~(1u << 2 | 1u << 12 | 1u << 14 | 1u << 15 | 1u << 25));
	CHECK_EQ(g[2] & 0xe1802098, 0);
	CHECK_EQ(g[3] & 0x1c0020, 0);
	ask(7, 1, g, r);
	CHECK_EQ(g[0], r[0] & ~(1u << 17 | 1u << 22));
	CHECK(g[1] == r[1] && g[2] == r[2] && g[3] == r[3]);
}

/*
 * On VT-x CPUID exits. It gives the processor's values without VT-x, and the bits that mirror the
 * guest's CR4.
 */
static void cpuid_of_linux(void)
{
	static const u32 same[] = { 0, 2, 0x0a, 0x0d, 0x14, 0x40000000, 0x80000001, 0x8000000a };
	struct vmcb *v = vmcb_of(pcpu_of(0));
	u32 g[4], r[4], i;

	fake_open(true, true);
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		unit_case("leaf %#x:", same[i]);
		ask(same[i], 0, g, r);
		CHECK(!memcmp(g, r, sizeof(g)));
	}
	for (i = 0; i < 2; i++) {
		unit_case("CR4's bits %u:", i);
		v->cr4 = i ? 1u << 18 | 1u << 22 : 0;
		ask(1, 0, g, r);
		CHECK_EQ(g[2], (r[2] & ~(1u << 5 | 1u << 27)) | i << 27);
		CHECK_EQ(g[3], r[3]);
		ask(7, 0, g, r);
		CHECK_EQ(g[2], (r[2] & ~(1u << 4)) | i << 4);
		CHECK_EQ(g[3], r[3] & ~(1u << 5));
		ask(7, 1, g, r);
		CHECK_EQ(g[0], r[0] & ~(1u << 17));
		CHECK_EQ(g[2], r[2]);
	}
}

static void msr_values(void)
{
	struct vmcb *v = vmcb_of(pcpu_of(0));
	u64 before;

	fake_open(true, true);
	v->efer = EFER_SVME | 0xd01;
	exit_with(EXIT_MSR, 1, 0x901, 0xc0000080, 0);
	CHECK_EQ(v->efer, EFER_SVME | EFER_LMA | 0x901);	/* the processor itself keeps LMA */
	/* with this value VMRUN would always fail */
	exit_with(EXIT_MSR, 1, 0x100901, 0xc0000080, 0);
	CHECK_EQ(v->event_inj, GP);
	CHECK_EQ(v->efer, EFER_SVME | EFER_LMA | 0x901);
	fake_wrmsr_last = 0;
	/* LMSLE must never be set in the host, not even for a trial */
	exit_with(EXIT_MSR, 1, 0x2901, 0xc0000080, 0);
	CHECK_EQ(v->event_inj, GP);
	CHECK_EQ(fake_wrmsr_last, 0);
	CHECK_EQ(exit_with(EXIT_MSR, 0, 0, 0xc0010117, 0), 0);
	exit_with(EXIT_MSR, 1, 0x7000, 0xc0010117, 0);
	CHECK_EQ(fake_wrmsr_last, 0);					/* dropped */
	CHECK_EQ(exit_with(EXIT_MSR, 0, 0, 0x40000005, 0), 0x1040000005);
	exit_with(EXIT_MSR, 1, 0x11111111, 0xc0002005, 0x22222222);
	CHECK_EQ(fake_wrmsr_last, 0xc0002005);
	CHECK_EQ(fake_wrmsr_value, 0x2222222211111111);
	me()->boot.x2apic = me()->icr.x2apic = 1;
	me()->icr.own_cpus = 1;
	before = pcpu_of(0)->status->denied;
	exit_with(EXIT_MSR, 1, 0x4040, 0x830, 2);	/* an interrupt for a cell's CPU */
	CHECK_EQ(fake_wrmsr_last, 0xc0002005);
	CHECK_EQ(pcpu_of(0)->status->denied, before + 1);
}

/*
 * If Linux may not write an MSR, the MSR keeps its value. A write that would change it is counted.
 */
static void kept_from_linux(void)
{
	static const struct { u32 msr; u64 now, wanted, then; bool denied; } rows[] = {
		{ 0xc0010010, 0x10c0010010, 0x10c0010010, 0, false },		/* unchanged */
		{ 0xc0010010, 0x10c0010010, 0x10c0810010, 0, true },	/* memory encryption */
		{ 0xc0010015, 0x10c0010015, 0x10c0010015 ^ 1 << 30, 0x10c0010015 ^ 1 << 30, false },
		/* the write leaves SMMLOCK set */
		{ 0xc0010015, 0x10c0010015, 0x1000010014 ^ 1 << 25, 0x1080010015 ^ 1 << 25, true },
		{ 0x200, 0x1000000200, 0, 0, true },
		{ 0x2ff, 0x10000002ff, 0, 0, false },
		{ 0xc90, 0x1000000c90, 0xff, 0, true },
		{ 0xc0010064, 0x10c0010064, 0, 0, true },
		{ 0xc0010020, 0, 0x5000, 0, true },
		{ 0xc0010114, 0, 0x10, 0, true },
		{ 0x40000000, 0x1040000000, 0x7001, 0, true },
	};
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_open(true, true);
		unit_case("MSR %#x:", rows[i].msr);
		fake_wrmsr_value = fake_wrmsr_last = 0;
		exit_with(EXIT_MSR, 1, (u32)rows[i].wanted, rows[i].msr, rows[i].wanted >> 32);
		CHECK_EQ(fake_wrmsr_value, rows[i].then);
		CHECK_EQ(fake_wrmsr_last, rows[i].then ? rows[i].msr : 0);
		CHECK_EQ(pcpu_of(0)->status->denied, rows[i].denied);
	}
}

UNIT_SUITE(exits_values) = {
	{ "exits: CPUID in a cell hides the monitor's features", cpuid_of_a_cell },
	{ "exits: CPUID offers a cell no feature without its MSRs", cpuid_hides },
	{ "exits: CPUID for Linux hides virtualization only", cpuid_of_linux },
	{ "exits: MSR values are checked", msr_values },
	{ "exits: MSRs that Linux may not write keep their values", kept_from_linux },
	{ 0 }
};
