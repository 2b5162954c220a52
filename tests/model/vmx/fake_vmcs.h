/* SPDX-License-Identifier: GPL-2.0-only */
/* A VMCS in a process: functions in place of vmx/entry.S. */
#ifndef FAKE_VMCS_H
#define FAKE_VMCS_H

#include "core/instance.h"
#include "core/x86.h"
#include "vmx/vmx.h"

/* Fields and controls that the monitor does not name: Intel SDM vol. 3, appendix B, chapter 25 */
#define GUEST_TR		(GUEST_ES + 2 * SEG_TR)
#define GUEST_TR_LIMIT		(GUEST_ES_LIMIT + 2 * SEG_TR)
#define GUEST_TR_RIGHTS		(GUEST_ES_RIGHTS + 2 * SEG_TR)
#define GUEST_FS_BASE		(GUEST_ES_BASE + 2 * SEG_FS)
#define GUEST_GS_BASE		(GUEST_ES_BASE + 2 * SEG_GS)
#define PIN_NMI			(1u << 3)	/* NMIs exit */
#define PIN_VIRTUAL_NMI		(1u << 5)	/* guest and host block NMIs independently */
#define PROC_IO_BITMAPS		(1u << 25)
#define PROC_MSR_BITMAPS	(1u << 28)
#define PROC2_EPT		(1u << 1)
#define PROC2_RDTSCP		(1u << 3)
#define PROC2_VPID		(1u << 5)
#define PROC2_UNRESTRICTED	(1u << 7)
#define EXIT_SAVE_PAT		(1u << 18)
#define EXIT_LOAD_PAT		(1u << 19)
#define EXIT_SAVE_EFER		(1u << 20)
#define EXIT_LOAD_EFER		(1u << 21)
#define ENTRY_LOAD_PAT		(1u << 14)
#define ENTRY_LOAD_EFER		(1u << 15)

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

/* The word by which an NMI in the monitor is noted: entry.S */
static inline u32 *nmi_note(const struct pcpu *cpu)
{
	return (u32 *)((u64)cpu + CPU_OFF_NMI);
}

/*
 * Sets up an exit that did not interrupt a delivery. The guest runs flat 32-bit code at FAKE_RIP.
 */
#define FAKE_RIP	0x5000ull
void fake_exit(struct pcpu *cpu, u32 reason, u64 qualification, u64 gpa, u32 length);
/* Sets up an exit by an exception, or for vector 2 by an NMI. */
void fake_event_exit(struct pcpu *cpu, u32 vector);
void fake_guest(void);

#endif
