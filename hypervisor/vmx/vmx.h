/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_VMX_H
#define QV_VMX_H

#include "core/cpu.h"
#include "core/vendor.h"
#include "vmcs.h"
#include <vmx/access.h>		/* the unit tests replace this file */

#define CR4_VMXE	(1ull << 13)
/*
 * CR4 bits that no guest has: VT-x is in use, user interrupts bypass filters, QV does not know FRED
 */
#define CR4_OURS	(CR4_VMXE | 1ull << 25 | 1ull << 32)

/* Exit reason 0 is an exception or an NMI: these codes distinguish them */
#define EVENT_CODE(vector)	(0x10000u + (vector))
#define CODE_NMI		EVENT_CODE(2)
#define CODE_ENTRY_FAILED	0x20000u

/* Offsets that entry.S has as numbers */
_Static_assert(__builtin_offsetof(struct pcpu, regs) == 0, "entry.S");
_Static_assert(QV_CPU_LEN == 0x8000, "entry.S");
_Static_assert(CPU_OFF_NMI == 0x1000 && CPU_OFF_NMI >= CPU_OFF_VENDOR, "entry.S");
_Static_assert(CODE_NMI == 0x10002 && CODE_ENTRY_FAILED == 0x20000, "entry.S");
_Static_assert(HOST_RSP == 0x6c14 && HOST_RIP == 0x6c16, "entry.S");

/* Physical address of something in this instance's block */
static inline u64 pa_of(const void *p)
{
	return (u64)p - QV_VA_BLOCK + me()->boot.block_pa;
}

/* entry.S */
/* makes this VMCS current, in the clear state, and clears the previous one */
void vmx_load(u64 vmcs_pa);
/* drops all cached translations of all guests of this CPU */
void vmx_flush(void);
/*
 * one VM entry, which must exit before the first guest instruction; false: the processor refused it
 */
bool vmx_try(void);
/* a VM entry that must fail: the failure loads the host fields */
void vmx_cross(u64 rdi) __attribute__((noreturn));
/* ends the blocking of NMIs that an exit by an NMI began */
void vmx_unblock_nmi(void);
extern const u8 vmx_exited[];			/* HOST_RIP */

/* core/traps.S */
bool xsetbv_safe(u32 index, u64 value);		/* false: the processor raised #GP */
extern const u8 gdt[];

/* Segments as in instructions: ES to GS, then LDTR and TR. Rights: SDM vol. 3, 25.4.1 */
enum { SEG_ES, SEG_CS, SEG_SS, SEG_DS, SEG_FS, SEG_GS, SEG_LDTR, SEG_TR };
#define RIGHTS_CODE64	0xa09bu
#define RIGHTS_CODE32	0xc09bu
#define RIGHTS_CODE16	0x009bu
#define RIGHTS_DATA32	0xc093u
#define RIGHTS_DATA16	0x0093u
#define RIGHTS_LDT	0x0082u
#define RIGHTS_TSS	0x008bu

/* leap.c */
void vmx_leap(u64 rdi) __attribute__((noreturn));

/* state.c */
void vmx_set_seg(u32 which, u32 sel, u32 rights, u32 limit, u64 base);
void vmx_set_host(const struct pcpu *cpu);

/* guest.c */
void vmx_end_shadow(void);			/* ends the shadow of STI and MOV SS, and a halt */
/* requests an exit as soon as the guest can take an NMI */
void vmx_nmi_window(bool on);

/* run.c: called by vendor_run after each exit */
void vmx_exit(struct pcpu *cpu);
/* also called for an NMI that came between two entries, and if VMRESUME and VMLAUNCH both failed */
void vmx_handle(struct pcpu *cpu, u64 code);

#endif
