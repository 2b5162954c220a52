// SPDX-License-Identifier: GPL-2.0-only
/*
 * State of a CPU that VMRUN or VM entry does not switch: FPU and vector registers, debug addresses.
 * A cell must not find Linux's values there.
 */
#include "cpu.h"
#include "init.h"
#include "vendor.h"

#define CPUID_1_XSAVE	(1u << 26)
#define MXCSR_RESET	0x1f80

/* An XSAVE area in which every component is in its initial state: Intel SDM vol. 1, 13.4 */
static const struct {
	u32 legacy[128], header[16];
} __attribute__((aligned(64))) initial = { .legacy = { [0] = 0x37f, [6] = MXCSR_RESET } };

void clear_registers(void)
{
	u32 r[4], all[4];

	asm volatile("mov %0, %%dr0; mov %0, %%dr1; mov %0, %%dr2; mov %0, %%dr3" : : "r"(0ull));
	vendor_clear_msrs();
	cpuid(1, 0, r);
	if (!(r[2] & CPUID_1_XSAVE)) {
		asm volatile("fxrstor %0" : : "m"(initial));
		return;
	}
	cpuid(0xd, 0, all);
	asm volatile("xsetbv" : : "c"(0), "a"(all[0]), "d"(all[3]));
	asm volatile("xrstor %0" : : "m"(initial), "a"(~0u), "d"(~0u));
	/* the state after reset: x87 only */
	asm volatile("xsetbv" : : "c"(0), "a"(1), "d"(0));
}
