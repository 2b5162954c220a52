/* SPDX-License-Identifier: GPL-2.0-only */
/* A VMCS in a process: in place of vmx/entry.S. */
#ifndef FAKE_VMCS_H
#define FAKE_VMCS_H

#include "core/instance.h"
#include "core/x86.h"
#include "vmx/vmx.h"

/* What VMREAD gives; as an exit leaves it behind, in the tests' hands. Of this thread's CPU */
u64 fake_get(u32 field);
void fake_set(u32 field, u64 value);

/* What has been done so far */
struct fake_vmx {
	u32 flushes, unblocks;
	u64 loaded;			/* physical address of the current VMCS */
	u64 crossed;			/* rdi that vmx_cross() took along */
	u32 xcr;
	u64 xcr_value;
	bool refuse;			/* the next entry fails */
};
extern struct fake_vmx fake_vmx;

/* An exit that nothing was being delivered in. The guest: flat 32-bit code at FAKE_RIP */
#define FAKE_RIP	0x5000ull
void fake_exit(struct pcpu *cpu, u32 reason, u64 qualification, u64 gpa, u32 length);
/* An exception, or with vector 2 an NMI */
void fake_event_exit(struct pcpu *cpu, u32 vector);
void fake_guest(void);

#endif
