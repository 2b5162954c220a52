/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In place of hypervisor/vmx/access.h: a VMCS in a process has functions (fake_vmcs.c) instead of
 * instructions.
 */
#ifndef QV_VMX_ACCESS_H
#define QV_VMX_ACCESS_H

#include "abi/types.h"

u64 vmcs_read(u32 field);
void vmcs_write(u32 field, u64 value);

#endif
