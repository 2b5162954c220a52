// SPDX-License-Identifier: GPL-2.0-only
/*
 * AMD's MSRs; core/msr.h explains the rows. Numbers and names: AMD APM vol. 2, appendix A, and the
 * PPRs of families 17h to 1Ah.
 */
#include "core/msr.h"
#include "svm.h"

const struct msr_rule vendor_msr_rules[] = {
	/* TSC: one clock for all: it limits doorbells, and a cell gets it with the CPU */
	{ 0x00000010, 0x00000010, { PASS, FAIL }, { PASS, KEEP }, 0 },
	/* APIC_BASE: mode and place are fixed while QV runs */
	{ 0x0000001b, 0x0000001b, { PASS, FAIL }, { PASS, KEEP }, 0 },
	/* SPEC_CTRL: a thread's own; cleared when a CPU changes hands */
	{ 0x00000048, 0x00000048, { PASS, PASS }, { PASS, PASS }, 0 },
	/* PRED_CMD: flushes its own branch predictor */
	{ 0x00000049, 0x00000049, { FAIL, PASS }, { PASS, PASS }, 0 },
	/* PATCH_LEVEL: which microcode: kernels ask */
	{ 0x0000008b, 0x0000008b, { PASS, FAIL }, { PASS, PASS }, 0 },
	/* MPERF, APERF: a thread's own clocks: schedulers ask at every tick */
	{ 0x000000e7, 0x000000e8, { PASS, FAIL }, { PASS, PASS }, 0 },
	/* MTRRcap: read-only */
	{ 0x000000fe, 0x000000fe, { PASS, FAIL }, { PASS, PASS }, 0 },
	/* SYSENTER: in the VMCB */
	{ 0x00000174, 0x00000176, { PASS, PASS }, { PASS, PASS }, 0 },
	/*
	 * MCG_CAP, MCG_STATUS: a cell sees no machine-check banks; a machine check there makes it
	 * fail
	 */
	{ 0x00000179, 0x0000017a, { ZERO, ZERO }, { PASS, PASS }, 0 },
	/* variable MTRRs: shared by the threads of a core; the firmware set them up */
	{ 0x00000200, 0x0000020f, { PASS, ZERO }, { PASS, KEEP }, 0 },
	/* fixed MTRRs: they also say whether an address below 1 MiB is RAM or device */
	{ 0x00000250, 0x0000026f, { PASS, ZERO }, { PASS, KEEP }, 0 },
	/* PAT: in the VMCB */
	{ 0x00000277, 0x00000277, { PASS, PASS }, { PASS, PASS }, 0 },
	/* MTRRdefType: kernels switch MTRRs off and on again when a CPU starts: there is no need */
	{ 0x000002ff, 0x000002ff, { PASS, ZERO }, { PASS, ZERO }, 0 },
	/* TSC_DEADLINE: its own timer */
	{ 0x000006e0, 0x000006e0, { PASS, PASS }, { PASS, PASS }, 0 },
	/* x2APIC ICR: filtered: reaches own CPUs only (core/icr.c) */
	{ 0x00000830, 0x00000830, { PASS, EMUL }, { PASS, EMUL }, 0 },
	/* x2APIC LVT CMCI: as the LVT below */
	{ 0x0000082f, 0x0000082f, { PASS, EMUL }, { PASS, PASS }, 0 },
	/* x2APIC LVT: in a cell fixed, NMI, or masked; never SMI, INIT, ExtINT */
	{ 0x00000832, 0x00000837, { PASS, EMUL }, { PASS, PASS }, 0 },
	/* x2APIC: all others: its own, no exit */
	{ 0x00000800, 0x0000083f, { PASS, PASS }, { PASS, PASS }, 0 },
	/* L3_QOS_CFG1: cache allocation of the whole machine */
	{ 0x00000c81, 0x00000c81, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* L3 QOS masks: they shape the cells' share of the cache too */
	{ 0x00000c90, 0x00000d8f, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* XSS: a thread's own; cleared when a CPU changes hands */
	{ 0x00000da0, 0x00000da0, { PASS, PASS }, { PASS, PASS }, 0 },
	/* MSRs of another hypervisor: they name memory for it to write, and it knows no holes */
	{ 0x40000000, 0x4fffffff, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/*
	 * EFER: SVME stays on; a cell reads it as off, Linux as on: KVM, loaded later, says that
	 * SVM is in use
	 */
	{ 0xc0000080, 0xc0000080, { EMUL, EMUL }, { PASS, EMUL }, 0 },
	/* STAR, LSTAR, CSTAR, SFMASK: in the VMCB */
	{ 0xc0000081, 0xc0000084, { PASS, PASS }, { PASS, PASS }, 0 },
	/* FS, GS, kernel GS base, TSC_AUX: in the VMCB, but TSC_AUX, a thread's own */
	{ 0xc0000100, 0xc0000103, { PASS, PASS }, { PASS, PASS }, 0 },
	/* TSC_RATIO: it would change the clock of the cell that gets this CPU next */
	{ 0xc0000104, 0xc0000104, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* limits of memory bandwidth, also of slow memory: as the L3 masks */
	{ 0xc0000200, 0xc000028f, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* QOS extensions: as the L3 masks */
	{ 0xc0000400, 0xc00004ff, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* SYSCFG: memory encryption, where RAM is */
	{ 0xc0010010, 0xc0010010, { PASS, FAIL }, { PASS, KEEP }, 0 },
	/* HWCR: Linux: McStatusWrEn, CpbDis, IRPerfEn; the rest is for SMM and the firmware */
	{ 0xc0010015, 0xc0010015, { PASS, ZERO }, { PASS, KEEP },
	  1ull << 18 | 1ull << 25 | 1ull << 30 },
	/* IORR, TOP_MEM, TOP_MEM2: they divide memory into RAM and devices */
	{ 0xc0010016, 0xc001001d, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* PATCH_LOADER: no new microcode under a running cell: load it before enable */
	{ 0xc0010020, 0xc0010020, { FAIL, ZERO }, { FAIL, DROP }, 0 },
	/*
	 * SMI_ON_IO_TRAP, MMIO_CFG_BASE: a port access would become an SMI on all CPUs; PCI's
	 * configuration space would move over other memory
	 */
	{ 0xc0010050, 0xc0010058, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/*
	 * P-state definitions: frequency and voltage; Linux keeps the choice of a P-state
	 * (C0010062)
	 */
	{ 0xc0010064, 0xc001006b, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* CSTATE_BASE: which ports put a CPU to sleep */
	{ 0xc0010073, 0xc0010073, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* SMM_BASE, SMM_ADDR, SMM_MASK: the code that runs above everything */
	{ 0xc0010111, 0xc0010113, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* VM_CR, IGNNE, SMM_CTL: SVM off, INIT redirected, locks; SMM by command */
	{ 0xc0010114, 0xc0010116, { FAIL, FAIL }, { PASS, DROP }, 0 },
	/*
	 * VM_HSAVE_PA, SVM_KEY, SMM_KEY: where the processor keeps the monitor's state; the locks
	 * of VM_CR, and of SMM's registers
	 */
	{ 0xc0010117, 0xc0010119, { FAIL, FAIL }, { ZERO, DROP }, 0 },
	/* SEV, RMP: the owner of each page */
	{ 0xc0010130, 0xc001013f, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* OSVW: which errata: kernels ask */
	{ 0xc0010140, 0xc0010141, { PASS, FAIL }, { PASS, PASS }, 0 },
	/* LS_CFG: how a core loads and stores; Linux: SSBD of families 15h to 17h */
	{ 0xc0011020, 0xc0011020, { FAIL, FAIL }, { PASS, KEEP },
	  1ull << 10 | 1ull << 33 | 1ull << 54 },
	/* FP_CFG: as DC_CFG below; Linux: denormals of family 17h, whenever a CPU comes online */
	{ 0xc0011028, 0xc0011028, { FAIL, FAIL }, { PASS, KEEP }, 1ull << 9 },
	/* DE_CFG: Linux: LFENCE serializes, the backup of FPU registers; it has seen to both */
	{ 0xc0011029, 0xc0011029, { PASS, ZERO }, { PASS, KEEP }, 1ull << 1 | 1ull << 9 },
	/*
	 * BP_CFG: as DC_CFG; Linux: the branch target buffer of Zen 4, whenever a CPU comes online
	 */
	{ 0xc001102e, 0xc001102e, { FAIL, FAIL }, { PASS, KEEP }, 1ull << 5 },
	/* IBS: a thread's own samples, in registers; switched off when a CPU changes hands */
	{ 0xc0011030, 0xc001103f, { FAIL, FAIL }, { PASS, PASS }, 0 },
	/*
	 * a core register: as DC_CFG; Linux: indirect branches of Zen 2, whenever a CPU comes
	 * online
	 */
	{ 0xc00110e3, 0xc00110e3, { FAIL, FAIL }, { PASS, KEEP }, 1ull << 1 },
	/*
	 * CPUID overrides, IC_CFG, DC_CFG, TW_CFG and other core registers: answers of CPUID on a
	 * CPU that a cell may get next; how a core fetches, caches and walks tables, which its
	 * threads share
	 */
	{ 0xc0011000, 0xc00111ff, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/*
	 * all others: machine-check banks, performance and energy counters, debug: Linux keeps them
	 */
	{ 0x00000000, LAST_ROW, { FAIL, FAIL }, { PASS, PASS }, 0 },
};

/*
 * Position of an MSR's two bits in the permission map: APM vol. 2, 15.11. Returns -1 if the MSR is
 * not in the map, so that it always exits
 */
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

bool vendor_msr_stop(u8 *map, u32 msr, u32 stop)
{
	int bit = bit_of(msr);

	if (bit < 0)
		return false;
	map[bit / 8] = (map[bit / 8] & ~(3u << bit % 8)) | stop << bit % 8;
	return true;
}

/*
 * Bits of EFER that a guest may write; Linux also SVME, which it sees set. LMSLE is not here:
 * write_efer() tries the bits in the host's EFER, where LMSLE would apply segment limits to the
 * monitor's stack.
 */
#define EFER_KNOWN	(1ull << 0 | EFER_LME | EFER_LMA | 1ull << 11 | 1ull << 14 | 1ull << 15 | \
			 1ull << 17 | 1ull << 18 | 1ull << 20 | 1ull << 21)

/* True if this processor has all these bits of EFER. VMRUN refuses a guest with any other bit */
static bool efer_exists(u64 value)
{
	u64 host = rdmsr(MSR_EFER), taken;

	msr_write_safe(MSR_EFER, host | value);
	taken = rdmsr(MSR_EFER);
	wrmsr(MSR_EFER, host);
	return !(value & ~taken);
}

/* The guest cannot change LMA, which the processor sets, or SVME, which VMRUN needs */
static bool write_efer(struct pcpu *cpu, u64 value)
{
	struct vmcb *v = vmcb_of(cpu);

	if (value & ~(EFER_KNOWN | (me()->id ? 0 : EFER_SVME)) ||
	    ((v->cr0 & CR0_PG) && ((value ^ v->efer) & EFER_LME)) || !efer_exists(value))
		return false;
	v->efer = (value & ~EFER_LMA) | (v->efer & EFER_LMA) | EFER_SVME;
	return true;
}

/* EFER */
bool vendor_msr_emulate(struct pcpu *cpu, u32 msr, u64 *value, bool write)
{
	if (msr != MSR_EFER)
		return false;
	if (write)
		return write_efer(cpu, *value);
	*value = vmcb_of(cpu)->efer & ~EFER_SVME;
	return true;
}
