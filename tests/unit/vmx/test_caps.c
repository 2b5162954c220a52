// SPDX-License-Identifier: GPL-2.0-only
/*
 * driver/cross/vmx_caps.c on simulated processors. If a control that QV needs is missing, it is
 * named. The monitor gets the controls that must be set, those that it needs, and those that the
 * processor offers.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <linux/qv.h>
#include "abi/boot.h"
#include "unit.h"

#define QV_DRIVER_H		/* This file replaces the kernel's side of qv.h. */
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct qv_regs { u32 eax, ebx, ecx, edx; };

static u64 msrs[0x600], cr0_now, cr4_now;
static u32 leaf1_ecx, leaf7_ebx;

static u64 qv_rdmsr(u32 msr)
{
	return msr < ARRAY_SIZE(msrs) ? msrs[msr] : 0;
}

static u64 qv_cr0(void)
{
	return cr0_now;
}

static u64 qv_cr4(void)
{
	return cr4_now;
}

static struct qv_regs qv_cpuid(u32 leaf)
{
	return (struct qv_regs){
		leaf ? 0 : 7, leaf == 7 ? leaf7_ebx : 0, leaf == 1 ? leaf1_ecx : 0, 0
	};
}

static int qv_refuse(struct qv_reply *r, u32 code, const char *remedy, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, args);
	va_end(args);
	snprintf(r->remedy, sizeof(r->remedy), "%s", remedy);
	r->code = code;
	return -1;
}

#include "../../../driver/cross/vmx_caps.c"

/* A processor with all features */
static void rich(void)
{
	static const u32 reserved[] = { 0x16, 0x04006172, 0x36dff & ~4u, 0x11ff & ~4u };

	memset(msrs, 0, sizeof(msrs));
	msrs[0x3a] = 5;
	msrs[0x480] = 0x12 | 1ull << 55;
	msrs[0x48d] = 0xffffffffull << 32 | reserved[0];
	msrs[0x48e] = 0xffffffffull << 32 | reserved[1];
	msrs[0x48f] = 0xffffffffull << 32 | reserved[2];
	msrs[0x490] = 0xffffffffull << 32 | reserved[3];
	msrs[0x48b] = 0xffffffffull << 32;
	msrs[0x48c] = ~0ull;
	msrs[0x486] = 0x80000021;
	msrs[0x487] = ~0u;
	msrs[0x488] = 0x2000;
	msrs[0x489] = ~0ull;
	cr0_now = 0x80050033;
	cr4_now = 0x3006f0;
	leaf1_ecx = CPUID_VMX;
	leaf7_ebx = 0;
}

static int judge(struct qv_reply *r)
{
	memset(r, 0, sizeof(*r));
	return qv_vmx_preflight(r);
}

static bool says(const struct qv_reply *r, const char *what)
{
	return strstr(r->text, what) && r->remedy[0];
}

static void each_control_is_missed(void)
{
	struct qv_reply r;
	u32 i;

	rich();
	CHECK_EQ(judge(&r), 0);
	for (i = 0; i < ARRAY_SIZE(controls); i++) {
		const struct control *c = &controls[i];

		unit_case("%s", c->name);
		rich();
		msrs[words[c->word].msr] &= ~(1ull << (32 + c->bit));
		if (c->need == OFFERED) {
			CHECK_EQ(judge(&r), 0);
			continue;
		}
		CHECK(judge(&r) != 0);
		/* without the secondary controls, more controls are missing */
		CHECK(says(&r, c->word == PROC && c->bit == 31 ? "secondary controls" : c->name));
	}
}

static void each_ability_of_ept_is_missed(void)
{
	struct qv_reply r;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ept_needs); i++) {
		unit_case("%s", ept_needs[i].name);
		rich();
		msrs[0x48c] &= ~(1ull << ept_needs[i].bit);
		CHECK(judge(&r) != 0);
		CHECK_EQ(r.code, QV_E_NO_NESTED);
		CHECK(says(&r, ept_needs[i].name));
	}
}

/* The processor requires controls that QV does not want: one bit in each field */
static void what_it_insists_on(void)
{
	static const struct { u32 msr, bit; const char *name; } bad[] = {
		{ 0x48d, 0, "pin-based" }, { 0x48e, 15, "processor-based" },
		{ 0x48e, 7, "processor-based" },
		{ 0x48b, 0, "secondary" }, { 0x48f, 15, "VM-exit" },
		{ 0x490, 17, "VM-entry" }, { 0x48e, 11, "processor-based" },
	};
	struct qv_reply r;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		unit_case("%#x %u", bad[i].msr, bad[i].bit);
		rich();
		msrs[bad[i].msr] |= 1ull << bad[i].bit;
		CHECK(judge(&r) != 0);
		CHECK_EQ(r.code, QV_E_UNSUPPORTED);
		CHECK(says(&r, "insists on") && says(&r, bad[i].name));
	}
}

static void firmware_and_registers(void)
{
	struct qv_reply r;

	rich();
	msrs[0x3a] = 1;
	CHECK(judge(&r) && r.code == QV_E_VIRT_DISABLED &&
	      says(&r, "the firmware has disabled VT-x"));
	CHECK(!qv_vmx_allowed());
	msrs[0x3a] = 4;
	CHECK(judge(&r) && r.code == QV_E_VIRT_DISABLED && says(&r, "not locked"));
	CHECK(!qv_vmx_allowed());
	rich();
	CHECK(qv_vmx_allowed() && qv_vmx_present());
	msrs[0x480] &= ~BASIC_TRUE_CONTROLS;
	CHECK(judge(&r) && says(&r, "true controls"));
	CHECK_EQ(qv_vmx_features(), 0);
	rich();
	cr0_now &= ~0x20ull;
	CHECK(judge(&r) && says(&r, "CR0"));
	rich();
	cr4_now |= CR4_UINTR_;
	CHECK(judge(&r) && says(&r, "user interrupts"));
	rich();
	msrs[MSR_RTIT_CTL] = RTIT_TRACE_EN;
	CHECK_EQ(judge(&r), 0);			/* without Intel PT, its MSR does not exist */
	leaf7_ebx = CPUID_7_PT;
	CHECK(judge(&r) && says(&r, "traced"));
}

static void what_the_monitor_gets(void)
{
	struct qv_mon_boot b;

	memset(&b, 0, sizeof(b));
	rich();
	b.phys_bits = 52;
	qv_vmx_fill(&b);
	CHECK_EQ(b.vmx.revision, 0x12);
	CHECK_EQ(b.vmx.pin, 0x16 | 1 << 3 | 1 << 5);
	CHECK_EQ(b.vmx.proc, 0x04006172u | 1u << 25 | 1u << 28 | 1u << 31);
	CHECK_EQ(b.vmx.proc2, 1 << 1 | 1 << 3 | 1 << 5 | 1 << 7 | 1 << 12 | 1 << 20 | 1 << 26);
	CHECK_EQ(b.vmx.exit, 0x36dff | 1 << 9 | 1 << 18 | 1 << 19 | 1 << 20 | 1 << 21);
	CHECK_EQ(b.vmx.entry, 0x11ff | 1 << 14 | 1 << 15);
	CHECK_EQ(b.nested_levels, 5);
	CHECK(b.ept && b.page1g);
	CHECK_EQ(qv_vmx_features(),
		 QV_FEATURE_EPT | QV_FEATURE_VPID | QV_FEATURE_UNRESTRICTED | QV_FEATURE_PAGE1G);
	msrs[0x48b] &= ~(1ull << (32 + 20) | 1ull << (32 + 26));
	msrs[0x48c] &= ~(1ull << EPT_PAGE1G);
	b.phys_bits = 48;
	qv_vmx_fill(&b);
	CHECK_EQ(b.vmx.proc2, 1 << 1 | 1 << 3 | 1 << 5 | 1 << 7 | 1 << 12);
	CHECK_EQ(b.nested_levels, 4);
	CHECK_EQ(b.page1g, 0);
}

/* A second CPU is rejected unless it offers all controls that were chosen on the first CPU. */
static void other_cpus(void)
{
	static const struct { u32 msr; u64 flip; bool alike; } rows[] = {
		{ 0x480, 0, true }, { 0x480, 1, false },	/* another revision */
		{ 0x48e, 1ull << 7, false },	/* the second CPU requires HLT exits */
		/* the second CPU lacks NMI exiting, then EPT */
		{ 0x48d, 1ull << 35, false }, { 0x48b, 1ull << 33, false },
		/* the second CPU lacks XSAVES, or WBINVD exiting, which only cells use */
		{ 0x48b, 1ull << 52, false }, { 0x48b, 1ull << 38, false },
		/* the second CPU lacks the NMI window, or INVVPID */
		{ 0x48e, 1ull << 54, false }, { 0x48c, 1ull << 32, false },
		{ 0x48c, 1ull << EPT_PAGE1G, false }, { 0x48c, 1ull << EPT_LEVELS_5, false },
		/* QV does not use this control */
		{ 0x480, BASIC_TRUE_CONTROLS, false }, { 0x48b, 1ull << 63, true },
	};
	struct qv_mon_boot b;
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unit_case("MSR %#x, %#lx:", rows[i].msr, rows[i].flip);
		memset(&b, 0, sizeof(b));
		rich();
		b.phys_bits = 52;
		qv_vmx_fill(&b);
		msrs[rows[i].msr] ^= rows[i].flip;
		CHECK_EQ(qv_vmx_alike(&b), rows[i].alike);
	}
	rich();
	msrs[0x48c] &= ~(1ull << EPT_PAGE1G);	/* the first CPU does not have 1 GiB pages */
	qv_vmx_fill(&b);
	rich();
	CHECK(qv_vmx_alike(&b));
}

UNIT_SUITE(vmx_caps) = {
	{ "vmx caps: each missing control is named", each_control_is_missed },
	{ "vmx caps: each missing ability of EPT is named", each_ability_of_ept_is_missed },
	{ "vmx caps: a control that cannot be disabled is named", what_it_insists_on },
	{ "vmx caps: firmware, registers and tracing are checked", firmware_and_registers },
	{ "vmx caps: the monitor gets the right controls", what_the_monitor_gets },
	{ "vmx caps: other CPUs must match the first", other_cpus },
	{ 0 }
};
