// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Registers of floating point: x87, MMX and SSE. A service is a function call, so its caller
 * expects only the control words to be kept (floatswitch.c). An interrupt must keep all.
 */
#include <inmate/cpu.h>
#include "floats.h"
#include "x86.h"

#define CR4_OSFXSR	(1ull << 9)
#define CR4_OSXMMEXCPT	(1ull << 10)

void floats_enable(void)
{
	if (!floats_used())
		return;
	write_cr4(read_cr4() | CR4_OSFXSR | CR4_OSXMMEXCPT);
	floats_first();
}

void floats_save(struct floats *floats)
{
	__asm__ volatile("fxsave64 %0" : "=m"(*floats));
	floats_first();
}

void floats_restore(const struct floats *floats)
{
	__asm__ volatile("fxrstor64 %0" : : "m"(*floats));
}
