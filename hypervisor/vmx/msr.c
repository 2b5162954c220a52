// SPDX-License-Identifier: GPL-2.0-only
/* The MSRs of Intel's processors: Intel SDM vol. 4, chapter 2. core/msr.h explains the rows. */
#include "core/msr.h"

const struct msr_rule vendor_msr_rules[] = {
	/* TSC: one clock for all: it limits doorbells, and a cell gets it with the CPU */
	{ 0x00000010, 0x00000010, { PASS, FAIL }, { PASS, KEEP }, 0 },
	/* PLATFORM_ID: read-only: kernels ask which microcode would fit */
	{ 0x00000017, 0x00000017, { PASS, FAIL }, { PASS, PASS }, 0 },
	/* APIC_BASE: mode and place are fixed while QV runs */
	{ 0x0000001b, 0x0000001b, { PASS, FAIL }, { PASS, KEEP }, 0 },
	/* TEST_CTRL: per core: Linux may trap split and uncached locks, not disable locking */
	{ 0x00000033, 0x00000033, { PASS, ZERO }, { PASS, KEEP }, 1ull << 28 | 1ull << 29 },
	/* SMI_COUNT: read-only: real-time software looks for SMIs */
	{ 0x00000034, 0x00000034, { PASS, FAIL }, { PASS, PASS }, 0 },
	/* FEATURE_CONTROL: VMX, SENTER, SGX: locked by the firmware or by Linux before */
	{ 0x0000003a, 0x0000003a, { PASS, FAIL }, { PASS, KEEP }, 0 },
	/* TSC_ADJUST: as TSC; kernels set it to 0 when the firmware did not */
	{ 0x0000003b, 0x0000003b, { PASS, ZERO }, { PASS, KEEP }, 0 },
	/* SPEC_CTRL: a thread's own; cleared when a CPU changes hands */
	{ 0x00000048, 0x00000048, { PASS, PASS }, { PASS, PASS }, 0 },
	/* PRED_CMD: flushes its own branch predictor */
	{ 0x00000049, 0x00000049, { FAIL, PASS }, { PASS, PASS }, 0 },
	/* PPIN: the processor's serial number: none for a cell, whose kernel asks */
	{ 0x0000004e, 0x0000004f, { ZERO, ZERO }, { PASS, PASS }, 0 },
	/*
	 * BIOS_UPDT_TRIG, FEATURE_ACTIVATION: no new microcode under a running cell: load it before
	 * enable
	 */
	{ 0x00000079, 0x0000007a, { FAIL, ZERO }, { FAIL, DROP }, 0 },
	/* MCU_ENUMERATION: read-only: which microcode rules */
	{ 0x0000007b, 0x0000007b, { PASS, FAIL }, { PASS, PASS }, 0 },
	/* TRACE_HUB_STH_ACPIBAR_BASE: moves the trace hub's registers over other memory */
	{ 0x00000080, 0x00000080, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/*
	 * BIOS_SIGN_ID: which microcode: kernels write 0, ask CPUID, read; it is there without the
	 * 0
	 */
	{ 0x0000008b, 0x0000008b, { PASS, ZERO }, { PASS, PASS }, 0 },
	/* SMM_MONITOR_CTL, SMBASE: the code that runs above everything */
	{ 0x0000009b, 0x0000009e, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* XAPIC_DISABLE_STATUS: read-only: kernels ask whether x2APIC can be left */
	{ 0x000000bd, 0x000000bd, { PASS, FAIL }, { PASS, PASS }, 0 },
	/*
	 * FSB_FREQ, PLATFORM_INFO, CORE_CAPABILITIES: read-only: kernels ask for clocks and
	 * split-lock traps
	 */
	{ 0x000000cd, 0x000000cf, { PASS, FAIL }, { PASS, PASS }, 0 },
	/* UMWAIT_CONTROL: longest sleep of a thread: stays as Linux left it */
	{ 0x000000e1, 0x000000e1, { PASS, ZERO }, { PASS, PASS }, 0 },
	/* PKG_CST_CONFIG_CONTROL: how deep the whole package sleeps */
	{ 0x000000e2, 0x000000e2, { PASS, ZERO }, { PASS, KEEP }, 0 },
	/* PMG_IO_CAPTURE_BASE: which ports put a CPU to sleep */
	{ 0x000000e4, 0x000000e4, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* MPERF, APERF: a thread's own clocks: schedulers ask at every tick */
	{ 0x000000e7, 0x000000e8, { PASS, FAIL }, { PASS, PASS }, 0 },
	/* MTRRcap: read-only */
	{ 0x000000fe, 0x000000fe, { PASS, FAIL }, { PASS, PASS }, 0 },
	/* ARCH_CAPABILITIES: read-only: kernels ask which leaks the processor has */
	{ 0x0000010a, 0x0000010a, { PASS, FAIL }, { PASS, PASS }, 0 },
	/* FLUSH_CMD: empties its own first-level cache */
	{ 0x0000010b, 0x0000010b, { FAIL, PASS }, { PASS, PASS }, 0 },
	/* TSX_FORCE_ABORT: transactions: stays as Linux left it */
	{ 0x0000010f, 0x0000010f, { PASS, ZERO }, { PASS, PASS }, 0 },
	/* TSX_CTRL, MCU_OPT_CTRL: mitigations: stays as Linux left it */
	{ 0x00000122, 0x00000123, { PASS, ZERO }, { PASS, PASS }, 0 },
	/* FEATURE_CONFIG: AES instructions off, for both threads of a core, until reset */
	{ 0x0000013c, 0x0000013c, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/*
	 * MISC_FEATURES_ENABLES: CPUID faults and MWAIT in user mode, per thread: stays as Linux
	 * left it
	 */
	{ 0x00000140, 0x00000140, { PASS, ZERO }, { PASS, PASS }, 0 },
	/* OC_MAILBOX: the package's voltage: wrong results on every CPU */
	{ 0x00000150, 0x00000150, { FAIL, FAIL }, { PASS, DROP }, 0 },
	/* SYSENTER: in the VMCS */
	{ 0x00000174, 0x00000176, { PASS, PASS }, { PASS, PASS }, 0 },
	/*
	 * MCG_CAP to ERROR_CONTROL: a cell sees no machine-check banks; a machine check there
	 * makes it fail
	 */
	{ 0x00000179, 0x0000017f, { ZERO, ZERO }, { PASS, PASS }, 0 },
	/* FLEX_RATIO: the package's frequency after the next reset */
	{ 0x00000194, 0x00000194, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* PERF_STATUS: read-only: kernels ask for clocks */
	{ 0x00000198, 0x00000198, { PASS, FAIL }, { PASS, PASS }, 0 },
	/*
	 * MISC_ENABLE: Linux: fast strings, thermal throttling of its own threads, which it writes
	 * as a CPU comes online; the rest reaches a core or more, and without NX the monitor's
	 * tables are void
	 */
	{ 0x000001a0, 0x000001a0, { PASS, ZERO }, { PASS, KEEP }, 1ull << 0 | 1ull << 3 },
	/* TEMPERATURE_TARGET: when the whole package is throttled */
	{ 0x000001a2, 0x000001a2, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* MISC_PWR_MGMT, TURBO_RATIO_LIMIT: the frequencies of all cores */
	{ 0x000001aa, 0x000001af, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* XFD, XFD_ERR: a thread's own; cleared when a CPU changes hands */
	{ 0x000001c4, 0x000001c5, { PASS, PASS }, { PASS, PASS }, 0 },
	/* DEBUGCTL: in the VMCS; a cell has no branch records */
	{ 0x000001d9, 0x000001d9, { PASS, ZERO }, { PASS, PASS }, 0 },
	/* SMRR, PRMRR: the memory of SMM and of enclaves */
	{ 0x000001f2, 0x000001f5, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* POWER_CTL: C1E and PROCHOT for the package */
	{ 0x000001fc, 0x000001fc, { PASS, ZERO }, { PASS, KEEP }, 0 },
	/* variable MTRRs: shared by the threads of a core; the firmware set them up */
	{ 0x00000200, 0x0000021f, { PASS, ZERO }, { PASS, KEEP }, 0 },
	/* fixed MTRRs: they also say whether an address below 1 MiB is RAM or device */
	{ 0x00000250, 0x0000026f, { PASS, ZERO }, { PASS, KEEP }, 0 },
	/* PAT: in the VMCS */
	{ 0x00000277, 0x00000277, { PASS, PASS }, { PASS, PASS }, 0 },
	/*
	 * PRMRR_BASE_0, in-field scan, UNCORE_PRMRR: as PRMRR; scans take both threads of a core
	 * away
	 */
	{ 0x000002a0, 0x000002f5, { FAIL, FAIL }, { PASS, DROP }, 0 },
	/* MTRRdefType: kernels switch MTRRs off and on again when a CPU starts: there is no need */
	{ 0x000002ff, 0x000002ff, { PASS, ZERO }, { PASS, ZERO }, 0 },
	/* PERF_CAPABILITIES: a cell has no performance counters */
	{ 0x00000345, 0x00000345, { ZERO, FAIL }, { PASS, PASS }, 0 },
	/*
	 * PEBS_ENABLE, PEBS_BASE, PEBS_INDEX: samples are written by linear address, and so into
	 * the monitor while it runs, or to physical memory, past EPT
	 */
	{ 0x000003f1, 0x000003f5, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* SMM_FEATURE_CONTROL: where SMM may take its code from */
	{ 0x000004e0, 0x000004e0, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* RTIT_OUTPUT, RTIT_CTL: traces are written to physical memory, past EPT */
	{ 0x00000560, 0x00000570, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/*
	 * VR_CURRENT_CONFIG to PLATFORM_POWER_LIMIT: current, voltage, power, sleep and clocks of
	 * package, cores, cache and memory: they slow every CPU
	 */
	{ 0x00000601, 0x0000065c, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* TSC_DEADLINE: its own timer */
	{ 0x000006e0, 0x000006e0, { PASS, PASS }, { PASS, PASS }, 0 },
	/*
	 * PM_ENABLE, HWP_REQUEST_PKG: hardware P-states of the package; Linux keeps HWP_REQUEST
	 * (774)
	 */
	{ 0x00000770, 0x00000772, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* x2APIC ICR: filtered: reaches own CPUs only (core/icr.c) */
	{ 0x00000830, 0x00000830, { PASS, EMUL }, { PASS, EMUL }, 0 },
	/* x2APIC LVT CMCI: as the LVT below */
	{ 0x0000082f, 0x0000082f, { PASS, EMUL }, { PASS, PASS }, 0 },
	/* x2APIC LVT: in a cell fixed, NMI, or masked; never SMI, INIT, ExtINT */
	{ 0x00000832, 0x00000837, { PASS, EMUL }, { PASS, PASS }, 0 },
	/* x2APIC: all others: its own, no exit */
	{ 0x00000800, 0x0000083f, { PASS, PASS }, { PASS, PASS }, 0 },
	/*
	 * TME, UINTR: memory encryption, and its exceptions; SENDUIPI sends to any APIC and asks
	 * neither ICR nor this map
	 */
	{ 0x00000981, 0x0000098a, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* TME_CLEAR_SAVED_KEY: as TME */
	{ 0x000009fb, 0x000009fb, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/*
	 * DEBUG_INTERFACE, L3_QOS_CFG, L2_QOS_CFG, L3_IO_QOS_CFG: a debugger below everything;
	 * cache allocation of the whole machine
	 */
	{ 0x00000c80, 0x00000c83, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/*
	 * L3 and L2 masks, memory bandwidth: they shape the cells' share too; Linux keeps class and
	 * RMID of a thread (C8D-C8F)
	 */
	{ 0x00000c90, 0x00000d8f, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* key locker copies: the wrapping key of the whole platform */
	{ 0x00000d91, 0x00000d92, { FAIL, FAIL }, { PASS, DROP }, 0 },
	/*
	 * XSS: a thread's own; cleared when a CPU changes hands. States that would go round this
	 * table make XSAVES and XRSTORS exit
	 */
	{ 0x00000da0, 0x00000da0, { PASS, PASS }, { PASS, PASS }, 0 },
	/* PKG_HDC_CTL: idles the whole package */
	{ 0x00000db0, 0x00000db0, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* SEAMRR: the memory of the TDX module */
	{ 0x00001400, 0x00001401, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/*
	 * HW_FEEDBACK_PTR, HW_FEEDBACK_CONFIG: the package writes a table to physical memory, past
	 * EPT
	 */
	{ 0x000017d0, 0x000017d1, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/* MSRs of another hypervisor: they name memory for it to write, and it knows no holes */
	{ 0x40000000, 0x4fffffff, { FAIL, FAIL }, { PASS, KEEP }, 0 },
	/*
	 * EFER, STAR, LSTAR, CSTAR, SFMASK: EFER is in the VMCS, with the entry control that must
	 * agree; the others are a thread's own, and the monitor does not use them
	 */
	{ 0xc0000080, 0xc0000084, { PASS, PASS }, { PASS, PASS }, 0 },
	/* FS, GS, kernel GS base, TSC_AUX: FS and GS are in the VMCS, the others a thread's own */
	{ 0xc0000100, 0xc0000103, { PASS, PASS }, { PASS, PASS }, 0 },
	/*
	 * all others: machine-check banks, performance and energy counters, branch records, thermal
	 * and P-state registers of a thread: Linux keeps them
	 */
	{ 0x00000000, LAST_ROW, { FAIL, FAIL }, { PASS, PASS }, 0 },
};

/*
 * Position of an MSR's bit in the map: SDM vol. 3, 25.6.9. The first half is for reads, the second
 * half for writes.
 */
bool vendor_msr_stop(u8 *map, u32 msr, u32 stop)
{
	u32 at = msr, half;

	if (msr >= 0xc0000000)
		at = msr - 0xc0000000 + 0x2000;
	else if (msr >= 0x2000)
		return false;
	if (at >= 0x4000)
		return false;
	for (half = 0; half < 2; half++, map += 0x800)
		map[at / 8] = (map[at / 8] & ~(1u << at % 8)) | (stop >> half & 1) << at % 8;
	return true;
}

bool vendor_msr_emulate(struct pcpu *cpu, u32 msr, u64 *value, bool write)
{
	return false;		/* no row needs this function: the processor switches EFER */
}
