// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the instruction that touched a device page, and its bytes, from the processor or from guest
 * memory.
 */
#include "gmem.h"
#include "vendor.h"

bool mmio_decode(struct pcpu *cpu, struct decoded *d)
{
	struct guest_mode mode;
	u8 bytes[DECODE_MAX];
	u32 num = vendor_bytes(cpu, bytes);

	if (!num)
		num = guest_code(cpu, 0, bytes, sizeof(bytes));
	vendor_mode(cpu, &mode);
	return decode_access(bytes, num, mode.long_code ? DECODE_64 :
			     mode.big_code ? DECODE_32 : DECODE_16, cpu->regs, d);
}
