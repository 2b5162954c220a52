/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields of the current VMCS, that of the CPU at hand, always: an access cannot fail then, but
 * where the processor has no such field (the XSS bitmap without XSAVES), and nothing happens. Two
 * instructions that are smaller than a call of them. The unit tests have a file of this name in its
 * place.
 */
#ifndef QV_VMX_ACCESS_H
#define QV_VMX_ACCESS_H

#include "abi/types.h"

/* @field: enum vmcs_field */
static inline u64 vmcs_read(u64 field)
{
	u64 value;

	asm volatile("vmread %1, %0" : "=r"(value) : "r"(field) : "cc");
	return value;
}

static inline void vmcs_write(u64 field, u64 value)
{
	asm volatile("vmwrite %0, %1" : : "r"(value), "r"(field) : "cc");
}

#endif
