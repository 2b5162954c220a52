// SPDX-License-Identifier: GPL-2.0-only
/* CPUID. A cell's CPUID always exits. Linux's exits on VT-x only, where it cannot be direct. */
#include "cell/cell.h"
#include "cpu.h"
#include "front/front.h"
#include "vendor.h"
#include "x86.h"

/* Changes to the processor's result: bits kept and bits added, by register */
struct cpuid_rule {
	/* number of the leaf; for leaf 7, also of the sub-leaf: SUB(sub-leaf) */
	u64 leaf;
	struct { u32 keep, add; } r[4];		/* masks for eax, ebx, ecx, edx */
	/* in ecx, bits .os mirror bits .cr4 of the guest's CR4 */
	u32 cr4, os;
};

#define SUB(n)		((u64)(n) << 32)
#define BIT(n)		(1u << (n))
#define SAME		{ ~0u, 0 }
#define NONE		{ 0, 0 }
#define NOT(bits)	{ ~(bits), 0 }
#define NAME(at)	{ 0, QV_CPUID_SIGNATURE[at] | QV_CPUID_SIGNATURE[at + 1] << 8 | \
			     QV_CPUID_SIGNATURE[at + 2] << 16 | QV_CPUID_SIGNATURE[at + 3] << 24 }
#define OSXSAVE		BIT(27)
#define OSPKE		BIT(4)

/* The changes to each leaf: AMD APM vol. 3, appendix E; Intel SDM vol. 2, CPUID */
static const struct cpuid_rule cpuid_rules[] = {
	/*
	 * Linux gets these changes, too. Bits that mirror CR4 follow Linux's CR4. Hidden are VMX,
	 * user interrupts and FRED
	 */
	{ .leaf = 1, .r = { SAME, SAME, NOT(BIT(5) | OSXSAVE), SAME },
	  .cr4 = CR4_OSXSAVE, .os = OSXSAVE },
	{ .leaf = 7, .r = { SAME, SAME, NOT(OSPKE), NOT(BIT(5)) }, .cr4 = CR4_PKE, .os = OSPKE },
	{ .leaf = 7 | SUB(1), .r = { NOT(BIT(17)), SAME, SAME, SAME } },
#define LINUX_RULES	3

	/*
	 * Hidden in ecx, edx: debug store, SMX, clock and thermal control, counters' capabilities.
	 * Added in ecx: a hypervisor is present.
	 */
	{ .leaf = 1, .r = { SAME, SAME, { ~(BIT(2) | BIT(4) | BIT(6) | BIT(7) | BIT(8) | BIT(15)),
			  BIT(31) }, NOT(BIT(21) | BIT(22) | BIT(29)) } },
	/* eax: only ARAT is kept (the timer runs in every C-state) */
	{ .leaf = 6, .r = { { BIT(2), 0 }, NONE, NONE, NONE } },
	/*
	 * Hidden in ebx: SGX, cache monitoring and allocation, MPX, processor trace; in ecx:
	 * protection keys, shadow stacks, TME, key locker, bus lock traps, ENQCMD; in edx: PCONFIG,
	 * branch records, branch tracking.
	 */
	{ .leaf = 7, .r = { SAME, NOT(BIT(2) | BIT(12) | BIT(14) | BIT(15) | BIT(25)),
			  NOT(BIT(3) | BIT(4) | BIT(7) | BIT(13) | BIT(23) | BIT(24) | BIT(29) |
			      BIT(30) | BIT(31)), NOT(BIT(18) | BIT(19) | BIT(20)) } },
	/* hidden in eax: history reset */
	{ .leaf = 7 | SUB(1), .r = { NOT(BIT(22)), SAME, SAME, SAME } },
	/*
	 * These leaves read as zero: counters; cache monitoring and allocation; SGX; trace; key
	 * locker; PCONFIG; branch records.
	 */
	{ .leaf = 0x0a }, { .leaf = 0x0f }, { .leaf = 0x10 }, { .leaf = 0x12 }, { .leaf = 0x14 },
	{ .leaf = 0x19 }, { .leaf = 0x1b }, { .leaf = 0x1c },
	{ .leaf = QV_CPUID_BASE, .r = { { 0, QV_CPUID_BASE + 1 }, NAME(0), NAME(4), NAME(8) } },
	{ .leaf = QV_CPUID_BASE + 1, .r = { { 0, QV_INFO_GPA }, { 0, QV_INFO_ABI }, NONE, NONE } },
	/* hidden in ecx: SVM, instruction-based sampling, SKINIT */
	{ .leaf = 0x80000001, .r = { SAME, SAME, NOT(BIT(2) | BIT(10) | BIT(12)), SAME } },
	/* hidden in ebx: INVLPGB */
	{ .leaf = 0x80000008, .r = { SAME, NOT(BIT(3)), SAME, SAME } },
	/* SVM */
	{ .leaf = 0x8000000a },
};

static void cpuid_emulate(struct pcpu *cpu, u32 num_rules)
{
	static const u8 places[] = { GPR_RAX, GPR_RBX, GPR_RCX, GPR_RDX };
	u32 leaf = cpu->regs[GPR_RAX], sub = cpu->regs[GPR_RCX], r[4], i;
	const struct cpuid_rule *rule = cpuid_rules;
	struct guest_mode mode;

	cpuid(leaf, sub, r);
	vendor_mode(cpu, &mode);
	for (; num_rules--; rule++) {
		if (rule->leaf != (leaf == 7 ? leaf | SUB(sub) : leaf))
			continue;
		for (i = 0; i < 4; i++)
			r[i] = (r[i] & rule->r[i].keep) | rule->r[i].add;
		if (mode.cr4 & rule->cr4)
			r[2] |= rule->os;
	}
	for (i = 0; i < 4; i++)
		cpu->regs[places[i]] = r[i];
	vendor_skip(cpu, 2);
}

void cell_cpuid(struct pcpu *cpu)
{
	cpuid_emulate(cpu, sizeof(cpuid_rules) / sizeof(cpuid_rules[0]));
}

void front_cpuid(struct pcpu *cpu)
{
	cpuid_emulate(cpu, LINUX_RULES);
}
