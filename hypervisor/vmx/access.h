/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access to the fields of the current VMCS, which always is that of this CPU. So an access cannot
 * fail, except to a field that the processor lacks (the XSS bitmap without XSAVES); this has no
 * effect. Inline, since one instruction is smaller than a call. The unit tests replace this file.
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
