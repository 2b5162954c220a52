// SPDX-License-Identifier: GPL-2.0-only
/*
 * MSRs: this table is the policy, the code and, by scripts/msrs, the page
 * Documentation/msrs.md. A cell reaches what is listed, nothing else. Linux
 * reaches everything but what is listed as kept from it: what would undo the
 * monitor, move memory or devices about, or reach CPUs that are not its own.
 * Numbers and names: AMD APM vol. 2, appendix A, and the PPRs of families 17h to 1Ah.
 */
#include "svm.h"

enum msr_action {
	OK,		/* directly, no exit; as on the bare machine, #GP included */
	OWN,		/* carried out or checked here; what is not allowed is refused as in FAIL */
	KEEP,		/* a write changes the bits of .mask only; others stay, counted and logged */
	ZERO,		/* reads as zero, a write is dropped, nobody is told */
	DROP,		/* the same, counted and logged */
	FAIL,		/* the cell fails; Linux gets #GP */
};

struct msr_rule {
	u32 first, last;
	u8 cell[2], front[2];	/* enum msr_action of a read, of a write */
	u64 mask;		/* KEEP: what Linux may change */
	const char *name, *why;
};

#define LAST_ROW	~0u

static const struct msr_rule rules[] = {
	{ 0x00000010, 0x00000010, { OK, FAIL }, { OK, OK }, 0, "TSC", "a CPU's own; a cell's clock is what Linux left there" },
	{ 0x0000001b, 0x0000001b, { OK, FAIL }, { OK, KEEP }, 0, "APIC_BASE", "mode and place are fixed while QV runs" },
	{ 0x00000048, 0x00000048, { OK, OK }, { OK, OK }, 0, "SPEC_CTRL", "a thread's own; cleared when a CPU changes hands" },
	{ 0x00000049, 0x00000049, { FAIL, OK }, { OK, OK }, 0, "PRED_CMD", "flushes the own branch predictor" },
	{ 0x0000008b, 0x0000008b, { OK, FAIL }, { OK, OK }, 0, "PATCH_LEVEL", "which microcode: kernels ask" },
	{ 0x000000fe, 0x000000fe, { OK, FAIL }, { OK, OK }, 0, "MTRRcap", "read-only" },
	{ 0x00000174, 0x00000176, { OK, OK }, { OK, OK }, 0, "SYSENTER", "in the VMCB" },
	{ 0x00000179, 0x0000017a, { ZERO, ZERO }, { OK, OK }, 0, "MCG_CAP, MCG_STATUS", "a cell sees no machine-check banks; a machine check there makes it fail" },
	{ 0x00000200, 0x0000020f, { OK, ZERO }, { OK, KEEP }, 0, "variable MTRRs", "shared by the threads of a core; the firmware set them up" },
	{ 0x00000250, 0x0000026f, { OK, ZERO }, { OK, KEEP }, 0, "fixed MTRRs", "they also say whether an address below 1 MiB is RAM or device" },
	{ 0x00000277, 0x00000277, { OK, OK }, { OK, OK }, 0, "PAT", "in the VMCB" },
	{ 0x000002ff, 0x000002ff, { OK, ZERO }, { OK, ZERO }, 0, "MTRRdefType", "kernels switch MTRRs off and on again when a CPU starts: there is no need" },
	{ 0x000006e0, 0x000006e0, { OK, OK }, { OK, OK }, 0, "TSC_DEADLINE", "the own timer" },
	{ 0x00000800, 0x0000082e, { OK, OK }, { OK, OK }, 0, "x2APIC", "the own" },
	{ 0x0000082f, 0x0000082f, { OK, OWN }, { OK, OK }, 0, "x2APIC LVT CMCI", "as the LVT below" },
	{ 0x00000830, 0x00000830, { OK, OWN }, { OK, OWN }, 0, "x2APIC ICR", "filtered: reaches own CPUs only (core/icr.c)" },
	{ 0x00000831, 0x00000831, { OK, OK }, { OK, OK }, 0, "x2APIC", "the own" },
	{ 0x00000832, 0x00000837, { OK, OWN }, { OK, OK }, 0, "x2APIC LVT", "a cell's: fixed, NMI, or masked; never SMI, INIT, ExtINT" },
	{ 0x00000838, 0x0000083f, { OK, OK }, { OK, OK }, 0, "x2APIC", "timer count, self-IPI: the own, no exit" },
	{ 0x00000c81, 0x00000c81, { FAIL, FAIL }, { OK, KEEP }, 0, "L3_QOS_CFG1", "cache allocation is the whole machine's" },
	{ 0x00000c90, 0x00000d8f, { FAIL, FAIL }, { OK, KEEP }, 0, "L3 QOS masks", "they shape the cells' share of the cache too" },
	{ 0x00000da0, 0x00000da0, { OK, OK }, { OK, OK }, 0, "XSS", "a thread's own; cleared when a CPU changes hands" },
	{ 0x40000000, 0x4fffffff, { FAIL, FAIL }, { OK, KEEP }, 0, "another hypervisor's", "they name memory for it to write, and it knows no holes" },
	{ 0xc0000080, 0xc0000080, { OWN, OWN }, { OK, OWN }, 0, "EFER", "SVME stays on; a cell reads it as off, Linux as on: KVM, loaded later, says that SVM is in use" },
	{ 0xc0000081, 0xc0000084, { OK, OK }, { OK, OK }, 0, "STAR, LSTAR, CSTAR, SFMASK", "in the VMCB" },
	{ 0xc0000100, 0xc0000102, { OK, OK }, { OK, OK }, 0, "FS, GS, kernel GS base", "in the VMCB" },
	{ 0xc0000103, 0xc0000103, { OK, OK }, { OK, OK }, 0, "TSC_AUX", "a thread's own" },
	{ 0xc0000104, 0xc0000104, { FAIL, FAIL }, { OK, KEEP }, 0, "TSC_RATIO", "it would change the clock of the cell that gets this CPU next" },
	{ 0xc0000200, 0xc000020f, { FAIL, FAIL }, { OK, KEEP }, 0, "memory bandwidth limits", "as the L3 masks" },
	{ 0xc0000280, 0xc000028f, { FAIL, FAIL }, { OK, KEEP }, 0, "slow memory bandwidth limits", "as the L3 masks" },
	{ 0xc0000400, 0xc00004ff, { FAIL, FAIL }, { OK, KEEP }, 0, "QOS extensions", "as the L3 masks" },
	{ 0xc0002000, 0xc0002fff, { FAIL, FAIL }, { OK, OK }, 0, "SMCA banks", "outside the permission map: each access exits and is done for Linux" },
	{ 0xc0010010, 0xc0010010, { OK, FAIL }, { OK, KEEP }, 0, "SYSCFG", "memory encryption, where RAM is" },
	{ 0xc0010015, 0xc0010015, { OK, ZERO }, { OK, KEEP }, 1ull << 18 | 1ull << 25 | 1ull << 30, "HWCR", "Linux: McStatusWrEn, CpbDis, IRPerfEn; the rest is SMM's and the firmware's" },
	{ 0xc0010016, 0xc001001a, { FAIL, FAIL }, { OK, KEEP }, 0, "IORR, TOP_MEM", "what is RAM and what is device" },
	{ 0xc001001d, 0xc001001d, { FAIL, FAIL }, { OK, KEEP }, 0, "TOP_MEM2", "as TOP_MEM" },
	{ 0xc0010020, 0xc0010020, { FAIL, ZERO }, { FAIL, DROP }, 0, "PATCH_LOADER", "no new microcode under a running cell: load it before enable" },
	{ 0xc0010050, 0xc0010056, { FAIL, FAIL }, { OK, KEEP }, 0, "SMI_ON_IO_TRAP", "a port access would become an SMI on all CPUs" },
	{ 0xc0010058, 0xc0010058, { FAIL, FAIL }, { OK, KEEP }, 0, "MMIO_CFG_BASE", "moves PCI's configuration space over other memory" },
	{ 0xc0010064, 0xc001006b, { FAIL, FAIL }, { OK, KEEP }, 0, "P-state definitions", "frequency and voltage; which P-state (C0010062) stays Linux's" },
	{ 0xc0010073, 0xc0010073, { FAIL, FAIL }, { OK, KEEP }, 0, "CSTATE_BASE", "which ports put a CPU to sleep" },
	{ 0xc0010111, 0xc0010113, { FAIL, FAIL }, { OK, KEEP }, 0, "SMM_BASE, SMM_ADDR, SMM_MASK", "the code that runs above everything" },
	{ 0xc0010114, 0xc0010114, { FAIL, FAIL }, { OK, DROP }, 0, "VM_CR", "SVM off, INIT redirected, locks" },
	{ 0xc0010115, 0xc0010116, { FAIL, FAIL }, { OK, DROP }, 0, "IGNNE, SMM_CTL", "SMM by command" },
	{ 0xc0010117, 0xc0010117, { FAIL, FAIL }, { ZERO, DROP }, 0, "VM_HSAVE_PA", "where the processor keeps the monitor's state" },
	{ 0xc0010118, 0xc0010118, { FAIL, FAIL }, { ZERO, DROP }, 0, "SVM_KEY", "the lock of VM_CR" },
	{ 0xc0010130, 0xc001013f, { FAIL, FAIL }, { OK, KEEP }, 0, "SEV, RMP", "who owns which page" },
	{ 0xc0010140, 0xc0010141, { OK, FAIL }, { OK, OK }, 0, "OSVW", "which errata: kernels ask" },
	{ 0xc0011029, 0xc0011029, { OK, ZERO }, { OK, OK }, 0, "DE_CFG", "LFENCE serializes: Linux has seen to it" },
	{ 0x00000000, LAST_ROW, { FAIL, FAIL }, { OK, OK }, 0, "all others", "machine-check banks, performance and energy counters, debug: Linux keeps them" },
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

/* The first row that fits; the last one fits always */
static const struct msr_rule *rule_of(u32 msr)
{
	const struct msr_rule *r = rules;

	while (msr < r->first || msr > r->last)
		r++;
	return r;
}

void msr_build(u8 *msrpm, bool front_end)
{
	const struct msr_rule *r;
	u32 msr;

	memset(msrpm, front_end ? 0 : 0xff, 0x2000);
	for (r = rules; r->last != LAST_ROW; r++) {
		const u8 *action = front_end ? r->front : r->cell;
		u32 stop = (action[0] != OK) | (action[1] != OK) << 1;

		for (msr = r->first; msr <= r->last && bit_of(msr) >= 0; msr++) {
			u32 bit = bit_of(msr);

			msrpm[bit / 8] = (msrpm[bit / 8] & ~(3u << bit % 8)) | stop << bit % 8;
		}
	}
}

static const u64 EFER_KNOWN = 0x1 | EFER_LME | EFER_LMA | 1 << 11 | EFER_SVME |
			      1 << 13 | 1 << 14 | 1 << 15 | 1 << 17 | 1 << 18 | 1 << 20 | 1 << 21;

/* LMA is the processor's; SVME must stay for VMRUN */
static bool write_efer(struct pcpu *cpu, u64 value)
{
	struct vmcb *v = vmcb_of(cpu);

	if (value & ~EFER_KNOWN || ((v->cr0 & CR0_PG) && ((value ^ v->efer) & EFER_LME)) || (!is_front_end() && (value & EFER_SVME)))
		return false;
	v->efer = (value & ~EFER_LMA) | (v->efer & EFER_LMA) | EFER_SVME;
	return true;
}

/* OWN */
static bool own(struct pcpu *cpu, u32 msr, u64 *value, bool write)
{
	if (msr == MSR_X2APIC_ICR)
		return icr_write(cpu, *value, *value >> 32);
	if (msr != MSR_EFER)
		return lvt_fine(*value) && msr_write_safe(msr, *value);
	if (write)
		return write_efer(cpu, *value);
	*value = vmcb_of(cpu)->efer & ~EFER_SVME;
	return true;
}

/* What Linux may do but not directly; false: #GP */
static FRONT_END_ONLY bool front_msr(struct pcpu *cpu, const struct msr_rule *r, u32 msr, u64 *value, bool write)
{
	u32 action = r->front[write];
	u64 old = 0, wanted = *value;

	if (action == FAIL)
		return false;
	if (action == ZERO || action == DROP)
		*value = 0;
	else if (!write)
		return msr_read_safe(msr, value);	/* outside the map */
	else if (action == OK)
		return msr_write_safe(msr, wanted);
	else if (!msr_read_safe(msr, &old))
		return false;
	else		/* KEEP */
		*value = (old & ~r->mask) | (wanted & r->mask);
	if (action == KEEP && *value != old && !msr_write_safe(msr, *value))
		return false;
	if (write && action != ZERO && *value != wanted) {
		cpu_status(cpu)->denied++;
		log_event(cpu, QV_LOG_MSR_DENIED, msr, wanted);
	}
	return true;
}

void svm_exit_msr(struct pcpu *cpu)
{
	bool write = vmcb_of(cpu)->info1 & 1, done;
	u32 msr = cpu->regs[GPR_RCX];
	u64 value = cpu->regs[GPR_RDX] << 32 | (u32)cpu->regs[GPR_RAX];
	const struct msr_rule *r = rule_of(msr);

	count_exit(cpu, msr == MSR_X2APIC_ICR ? QV_EXIT_ICR : QV_EXIT_MSR);
	if ((is_front_end() ? r->front : r->cell)[write] == OWN) {
		done = own(cpu, msr, &value, write);
	} else if (is_front_end()) {
		done = front_msr(cpu, r, msr, &value, write);
	} else {
		value = 0;
		done = r->cell[write] == ZERO;
	}
	if (!done) {
		refuse(cpu, QV_FAIL_MSR, msr);
		return;
	}
	if (!write) {
		cpu->regs[GPR_RAX] = (u32)value;
		cpu->regs[GPR_RDX] = value >> 32;
	}
	vendor_skip(cpu, 2);
}
