/* SPDX-License-Identifier: GPL-2.0-only */
/* The virtual machine control block: AMD APM vol. 2, appendix B. */
#ifndef QV_VMCB_H
#define QV_VMCB_H

#include "abi/types.h"

struct vmcb_seg {
	u16 sel, attrib;
	u32 limit;
	u64 base;
};

/* The state save area; offsets are those in the block */
#define VMCB_SAVE \
	struct vmcb_seg es, cs, ss, ds, fs, gs, gdtr, ldtr, idtr, tr;	/* 400 */ \
	u8 pad4a0[0x4cb - 0x4a0]; \
	u8 cpl; \
	u8 pad4cc[4]; \
	u64 efer;					/* 4d0 */ \
	u8 pad4d8[0x548 - 0x4d8]; \
	u64 cr4, cr3, cr0, dr7, dr6, rflags, rip;	/* 548 */ \
	u8 pad580[0x5d8 - 0x580]; \
	u64 rsp, s_cet, ssp, isst, rax;			/* 5d8 */ \
	u64 star, lstar, cstar, sfmask, kernel_gs;	/* 600 */ \
	u64 sysenter_cs, sysenter_esp, sysenter_eip, cr2;	/* 628 */ \
	u8 pad648[0x668 - 0x648]; \
	u64 g_pat, dbgctl;				/* 668 */ \
	u8 pad678[0x6e0 - 0x678]; \
	u64 spec_ctrl;					/* 6e0 */

struct vmcb_save { VMCB_SAVE };

struct vmcb {
	u32 intercept_cr, intercept_dr, intercept_exc;
	u32 intercept3, intercept4, intercept5;		/* 00c, 010, 014 */
	u8 pad018[0x040 - 0x018];
	u64 iopm_pa, msrpm_pa, tsc_offset;		/* 040 */
	u32 asid;					/* 058 */
	u8 tlb_control, pad05d[3];
	u64 v_intr;					/* 060 */
	u64 shadow;					/* 068 */
	u64 exit_code, info1, info2, exit_int_info;	/* 070 */
	u64 np_enable;					/* 090 */
	u8 pad098[0x0a8 - 0x098];
	u64 event_inj;					/* 0a8 */
	u64 n_cr3;					/* 0b0 */
	u64 virt_ext, clean, next_rip;			/* 0b8 */
	u8 num_bytes, bytes[15];			/* 0d0 */
	u8 pad0e0[0x3e0 - 0x0e0];
	u64 iret_rip, iret_rsp;		/* 3e0, for hypervisors: where the last IRET exit was */
	u8 pad3f0[0x400 - 0x3f0];
	union {
		struct vmcb_save save;
		struct { VMCB_SAVE };
	};
	u8 pad6e8[0x1000 - 0x6e8];
};

_Static_assert(__builtin_offsetof(struct vmcb, iopm_pa) == 0x040, "vmcb");
_Static_assert(__builtin_offsetof(struct vmcb, exit_code) == 0x070, "vmcb");
_Static_assert(__builtin_offsetof(struct vmcb, event_inj) == 0x0a8, "vmcb");
_Static_assert(__builtin_offsetof(struct vmcb, num_bytes) == 0x0d0, "vmcb");
_Static_assert(__builtin_offsetof(struct vmcb, cpl) == 0x4cb, "vmcb");
_Static_assert(__builtin_offsetof(struct vmcb, efer) == 0x4d0, "vmcb");
_Static_assert(__builtin_offsetof(struct vmcb, cr4) == 0x548, "vmcb");
_Static_assert(__builtin_offsetof(struct vmcb, rip) == 0x578, "vmcb");
_Static_assert(__builtin_offsetof(struct vmcb, rsp) == 0x5d8, "vmcb");
_Static_assert(__builtin_offsetof(struct vmcb, rax) == 0x5f8, "vmcb");
_Static_assert(__builtin_offsetof(struct vmcb, cr2) == 0x640, "vmcb");
_Static_assert(__builtin_offsetof(struct vmcb, g_pat) == 0x668, "vmcb");

#define NP_ENABLE	(1ull << 0)
#define NP_INVLPGB	(1ull << 7)

/* intercept3 */
#define I3_INTR		(1u << 0)
#define I3_NMI		(1u << 1)
#define I3_INIT		(1u << 3)
#define I3_VINTR	(1u << 4)
#define I3_RDPMC	(1u << 15)
#define I3_CPUID	(1u << 18)
#define I3_IRET		(1u << 20)
#define I3_INVD		(1u << 22)
#define I3_INVLPGA	(1u << 26)
#define I3_IOIO		(1u << 27)
#define I3_MSR		(1u << 28)
#define I3_FERR_FREEZE	(1u << 30)
#define I3_SHUTDOWN	(1u << 31)
/* intercept4 */
#define I4_VMRUN	(1u << 0)
#define I4_VMMCALL	(1u << 1)
#define I4_VMLOAD	(1u << 2)
#define I4_VMSAVE	(1u << 3)
#define I4_STGI		(1u << 4)
#define I4_CLGI		(1u << 5)
#define I4_SKINIT	(1u << 6)
#define I4_WBINVD	(1u << 9)
#define EXC_DB		(1u << 1)
#define EXC_AC		(1u << 17)
#define EXC_MC		(1u << 18)

/* Intercepts for Linux and for cells */
#define I3_COMMON	(I3_NMI | I3_INIT | I3_MSR | I3_INVD | I3_INVLPGA | I3_SHUTDOWN)
#define I4_COMMON	(I4_VMRUN | I4_VMMCALL | I4_VMLOAD | I4_VMSAVE | \
			 I4_STGI | I4_CLGI | I4_SKINIT)

#define EXIT_EXCEPTION	0x040
#define EXIT_DB		0x041
#define EXIT_AC		0x051
#define EXIT_MC		0x052
#define EXIT_NMI	0x061
#define EXIT_INIT	0x063
#define EXIT_VINTR	0x064
#define EXIT_CPUID	0x072
#define EXIT_IRET	0x074
#define EXIT_INVD	0x076
#define EXIT_INVLPGA	0x07a
#define EXIT_IOIO	0x07b
#define EXIT_MSR	0x07c
#define EXIT_SHUTDOWN	0x07f
#define EXIT_VMRUN	0x080
#define EXIT_VMMCALL	0x081
#define EXIT_SKINIT	0x086
#define EXIT_WBINVD	0x089
#define EXIT_NPF	0x400
#define EXIT_INVALID	(~0ull)

#define EVENT_VALID	(1ull << 31)
#define EVENT_ERROR	(1ull << 11)
#define EVENT_TYPE	(7ull << 8)
#define EVENT_NMI	(2ull << 8)
#define EVENT_EXCEPTION	(3ull << 8)
#define EVENT_SOFT	(4ull << 8)

#define V_IRQ		(1ull << 8)
#define V_IRQ_PRIO	(0xfull << 16)
#define V_IGN_TPR	(1ull << 20)

#define TLB_FLUSH_ALL	1

#define MSR_VM_CR	0xc0010114u
#define MSR_HSAVE	0xc0010117u
#define VM_CR_R_INIT	(1ull << 1)
#define EFER_LME	(1ull << 8)
#define EFER_SVME	(1ull << 12)
#define CR4_CET		(1ull << 23)
#define RFLAGS_IF	(1ull << 9)
#define TSS_LEN		0x68u

/*
 * In a CPU's area: the host page has the layout of a VMCB. After each exit TR holds the guest's
 * value, and VMLOAD gets the monitor's TR from this page. The core uses the end of the page:
 * CPU_OFF_TSS.
 */
#define CPU_OFF_HOST	0x1000u
#define CPU_OFF_VMCB	0x2000u
#define CPU_OFF_HSAVE	0x3000u

#endif
