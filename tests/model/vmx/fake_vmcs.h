/* SPDX-License-Identifier: GPL-2.0-only */
/* A VMCS in a process: functions in place of vmx/entry.S. */
#ifndef FAKE_VMCS_H
#define FAKE_VMCS_H

#include "core/instance.h"
#include "core/x86.h"
#include "vmx/vmx.h"

/* Values that VMREAD gives, for the CPU of this thread. The tests write them, as an exit would. */
u64 fake_get(u32 field);
void fake_set(u32 field, u64 value);

/* Effects of the monitor's instructions so far */
struct fake_vmx {
	u32 flushes, unblocks;
	u64 loaded;			/* physical address of the current VMCS */
	u64 crossed;			/* the rdi with which vmx_cross() was called */
	u32 xcr;
	u64 xcr_value;
	bool refuse;			/* if set, the next VM entry fails */
};
extern struct fake_vmx fake_vmx;

/*
 * Sets up an exit that did not interrupt a delivery. The guest runs flat 32-bit code at FAKE_RIP.
 */
#define FAKE_RIP	0x5000ull
void fake_exit(struct pcpu *cpu, u32 reason, u64 qualification, u64 gpa, u32 length);
/* Sets up an exit by an exception, or for vector 2 by an NMI. */
void fake_event_exit(struct pcpu *cpu, u32 vector);
void fake_guest(void);

#endif
