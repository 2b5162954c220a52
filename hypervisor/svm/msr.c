// SPDX-License-Identifier: GPL-2.0-only
/*
 * MSRs: the table is the policy. A cell reaches what is listed, nothing else.
 * Linux reaches everything but what is listed as denied to it.
 */
#include "svm.h"

#define R	1u
#define W	2u

struct msr_rule {
	u32 first, last;
	u32 cell;		/* what a cell may do directly */
	u32 linux_not;		/* what Linux may not do directly */
	const char *why;
};

static const struct msr_rule rules[] = {
	{ 0x00000010, 0x00000010, R,	0, "TSC" },
	{ 0x0000001b, 0x0000001b, R,	W, "APIC base: mode and place are fixed while QV runs" },
	{ 0x000000fe, 0x000000fe, R,	0, "MTRR capabilities" },
	{ 0x00000174, 0x00000176, R | W, 0, "SYSENTER: in the VMCB" },
	{ 0x00000200, 0x0000020f, R,	0, "MTRRs: shared by all; Linux set them up" },
	{ 0x00000250, 0x0000026f, R,	0, "fixed MTRRs" },
	{ 0x00000277, 0x00000277, R | W, 0, "PAT: in the VMCB" },
	{ 0x000002ff, 0x000002ff, R,	0, "MTRR default" },
	{ 0x000006e0, 0x000006e0, R | W, 0, "TSC deadline" },
	{ 0x00000800, 0x0000082f, R | W, 0, "x2APIC: own" },
	{ 0x00000830, 0x00000830, R,	W, "x2APIC ICR: filtered" },
	{ 0x00000831, 0x0000083f, R | W, 0, "x2APIC: own" },
	{ 0xc0000080, 0xc0000080, 0,	W, "EFER: SVME stays set" },
	{ 0xc0000081, 0xc0000084, R | W, 0, "STAR, LSTAR, CSTAR, SFMASK: in the VMCB" },
	{ 0xc0000100, 0xc0000102, R | W, 0, "FS, GS, kernel GS base: in the VMCB" },
	{ 0xc0000103, 0xc0000103, R | W, 0, "TSC_AUX" },
	{ 0xc0010114, 0xc0010114, 0,	W, "VM_CR" },
	{ 0xc0010117, 0xc0010117, 0, R | W, "VM_HSAVE_PA: where the processor keeps our state" },
};

/* Place of an MSR's two bits in the map: APM vol. 2, 15.11; -1: outside, always exits */
static int bit_of(u32 msr)
{
	if (msr < 0x2000)
		return msr * 2;
	if (msr >= 0xc0000000 && msr < 0xc0002000)
		return 0x800 * 8 + (msr - 0xc0000000) * 2;
	if (msr >= 0xc0010000 && msr < 0xc0012000)
		return 0x1000 * 8 + (msr - 0xc0010000) * 2;
	return -1;
}

void msr_build(u8 *msrpm, bool front_end)
{
	u32 i, msr;

	memset(msrpm, front_end ? 0 : 0xff, 0x2000);
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		for (msr = rules[i].first; msr <= rules[i].last; msr++) {
			u32 bit = bit_of(msr);
			u32 stop = front_end ? rules[i].linux_not : ~rules[i].cell & (R | W);

			msrpm[bit / 8] = (msrpm[bit / 8] & ~(3u << bit % 8)) | stop << bit % 8;
		}
}

static const u64 EFER_KNOWN = 0x1 | EFER_LME | EFER_LMA | 1 << 11 | EFER_SVME |
			      1 << 13 | 1 << 14 | 1 << 15 | 1 << 17 | 1 << 18 | 1 << 20 | 1 << 21;

/* LMA is the processor's; SVME must stay for VMRUN, and makes a later KVM say "in use" */
static bool write_efer(struct pcpu *cpu, u64 value)
{
	struct vmcb *v = vmcb_of(cpu);

	if (value & ~EFER_KNOWN || ((v->cr0 & CR0_PG) && ((value ^ v->efer) & EFER_LME)) || (!is_front_end() && (value & EFER_SVME)))
		return false;
	v->efer = (value & ~EFER_LMA) | (v->efer & EFER_LMA) | EFER_SVME;
	return true;
}

static void denied(struct pcpu *cpu, u32 msr, u64 value)
{
	cpu_status(cpu)->denied++;
	log_event(cpu, QV_LOG_MSR_DENIED, msr, value);
}

static FRONT_END_ONLY bool front_read(struct pcpu *cpu, u32 msr, u64 *value)
{
	if (msr == MSR_HSAVE) {
		*value = 0;
		return true;
	}
	if (bit_of(msr) < 0 && msr_read_safe(msr, value))
		return true;
	vendor_inject_fault(cpu, 13);	/* as without us: no such MSR */
	return false;
}

static bool read_msr(struct pcpu *cpu, u32 msr, u64 *value)
{
	if (msr == MSR_EFER) {
		*value = vmcb_of(cpu)->efer & ~EFER_SVME;
		return true;
	}
	return is_front_end() && front_read(cpu, msr, value);
}

static FRONT_END_ONLY bool front_write(struct pcpu *cpu, u32 msr, u64 value)
{
	switch (msr) {
	case MSR_HSAVE:
	case MSR_VM_CR:
		denied(cpu, msr, value);	/* dropped: kernels write them on their way down */
		return true;
	case MSR_APIC_BASE:
		if (value == rdmsr(MSR_APIC_BASE))	/* what a CPU coming online does */
			return true;
		denied(cpu, msr, value);
		break;
	default:
		if (bit_of(msr) < 0 && msr_write_safe(msr, value))
			return true;
	}
	vendor_inject_fault(cpu, 13);
	return false;
}

static bool write_msr(struct pcpu *cpu, u32 msr, u64 value)
{
	if (msr == MSR_X2APIC_ICR)
		return icr_write(cpu, value, value >> 32);
	if (msr == MSR_EFER && write_efer(cpu, value))
		return true;
	return is_front_end() && front_write(cpu, msr, value);
}

void svm_exit_msr(struct pcpu *cpu)
{
	bool write = vmcb_of(cpu)->info1 & 1;
	u32 msr = cpu->regs[GPR_RCX];
	u64 value = cpu->regs[GPR_RDX] << 32 | (u32)cpu->regs[GPR_RAX];

	cpu_status(cpu)->exits[msr == MSR_X2APIC_ICR ? QV_EXIT_ICR : QV_EXIT_MSR]++;
	if (write ? !write_msr(cpu, msr, value) : !read_msr(cpu, msr, &value)) {
		if (!is_front_end())
			cell_fail(cpu, QV_FAIL_MSR, msr);
		return;
	}
	if (!write) {
		cpu->regs[GPR_RAX] = (u32)value;
		cpu->regs[GPR_RDX] = value >> 32;
	}
	vendor_skip(cpu, 2);
}
