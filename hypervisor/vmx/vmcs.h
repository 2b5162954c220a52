/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The virtual machine control structure: fields, controls, exit reasons. Intel SDM vol. 3,
 * appendices B (fields) and C (exit reasons), chapter 25 (controls).
 */
#ifndef QV_VMCS_H
#define QV_VMCS_H

/* In a CPU's area (core/instance.h); the regions private to the processor have a page each */
/* u32: nonzero if an NMI came while the monitor was at work */
#define CPU_OFF_NMI	0x1000u
#define CPU_OFF_VMCS	0x2000u
/* used in the front end's areas only, wherever the CPU goes */
#define CPU_OFF_VMXON	0x3000u

enum vmcs_field {
	VMCS_VPID		= 0x0000,
	/* selectors: this one is ES; CS, SS, DS, FS, GS, LDTR and TR follow in steps of 2 */
	GUEST_ES		= 0x0800,
	GUEST_CS		= 0x0802,
	/* host selectors */
	HOST_ES = 0x0c00, HOST_CS = 0x0c02, HOST_SS = 0x0c04, HOST_DS = 0x0c06,
	HOST_FS = 0x0c08, HOST_GS = 0x0c0a, HOST_TR = 0x0c0c,
	VMCS_IO_BITMAP_A = 0x2000, VMCS_IO_BITMAP_B = 0x2002,
	VMCS_MSR_BITMAP		= 0x2004,
	VMCS_EPT_POINTER	= 0x201a,
	VMCS_XSS_BITMAP		= 0x202c,
	EXIT_GUEST_PHYSICAL	= 0x2400,
	VMCS_LINK		= 0x2800,
	GUEST_DEBUGCTL		= 0x2802,
	GUEST_PAT		= 0x2804,
	GUEST_EFER		= 0x2806,
	HOST_PAT		= 0x2c00,
	HOST_EFER		= 0x2c02,
	VMCS_PIN		= 0x4000,
	VMCS_PROC		= 0x4002,
	VMCS_EXCEPTIONS		= 0x4004,
	VMCS_FAULT_MASK		= 0x4006,
	VMCS_FAULT_MATCH	= 0x4008,
	VMCS_CR3_TARGETS	= 0x400a,	/* a count, and so are the next three: of MSRs */
	VMCS_EXIT_STORES	= 0x400e,
	VMCS_EXIT_LOADS		= 0x4010,
	VMCS_ENTRY_LOADS	= 0x4014,
	VMCS_EXIT		= 0x400c,
	VMCS_ENTRY		= 0x4012,
	ENTRY_EVENT		= 0x4016,
	ENTRY_ERROR		= 0x4018,
	/* length of the instruction whose event is injected */
	ENTRY_LENGTH		= 0x401a,
	VMCS_PROC2		= 0x401e,
	EXIT_REASON		= 0x4402,
	EXIT_EVENT		= 0x4404,	/* event that caused the exit: exception or NMI */
	IDT_EVENT		= 0x4408,	/* event whose delivery the exit interrupted */
	IDT_ERROR		= 0x440a,
	EXIT_LENGTH		= 0x440c,
	GUEST_ES_LIMIT		= 0x4800,	/* in the order of the selectors */
	GUEST_GDTR_LIMIT = 0x4810, GUEST_IDTR_LIMIT = 0x4812,
	GUEST_ES_RIGHTS		= 0x4814,
	GUEST_CS_RIGHTS		= 0x4816,
	GUEST_SS_RIGHTS		= 0x4818,
	GUEST_BLOCKING		= 0x4824,	/* interruptibility state */
	GUEST_ACTIVITY		= 0x4826,
	GUEST_SYSENTER_CS	= 0x482a,
	HOST_SYSENTER_CS	= 0x4c00,
	VMCS_CR0_MASK = 0x6000, VMCS_CR4_MASK = 0x6002,
	VMCS_CR0_SHADOW = 0x6004, VMCS_CR4_SHADOW = 0x6006,
	EXIT_QUALIFICATION	= 0x6400,
	GUEST_CR0 = 0x6800, GUEST_CR3 = 0x6802, GUEST_CR4 = 0x6804,
	GUEST_ES_BASE		= 0x6806,	/* in the order of the selectors */
	GUEST_CS_BASE		= 0x6808,
	GUEST_GDTR_BASE = 0x6816, GUEST_IDTR_BASE = 0x6818,
	GUEST_DR7		= 0x681a,
	GUEST_RSP		= 0x681c,
	GUEST_RIP		= 0x681e,
	GUEST_RFLAGS		= 0x6820,
	GUEST_PENDING_DEBUG	= 0x6822,	/* bits have the positions of DR6 */
	GUEST_SYSENTER_ESP = 0x6824, GUEST_SYSENTER_EIP = 0x6826,
	HOST_CR0 = 0x6c00, HOST_CR3 = 0x6c02, HOST_CR4 = 0x6c04,
	HOST_FS_BASE		= 0x6c06,
	HOST_GS_BASE		= 0x6c08,
	HOST_TR_BASE		= 0x6c0a,
	HOST_GDTR_BASE = 0x6c0c, HOST_IDTR_BASE = 0x6c0e,
	HOST_SYSENTER_ESP = 0x6c10, HOST_SYSENTER_EIP = 0x6c12,
	HOST_RSP = 0x6c14, HOST_RIP = 0x6c16,
};

#define PROC_RDPMC		(1u << 11)
#define PROC_NMI_WINDOW		(1u << 22)
#define PROC_SECONDARY		(1u << 31)
#define PROC2_WBINVD		(1u << 6)
#define ENTRY_LONG		(1u << 9)	/* the guest is in IA-32e mode */

/* Exit reasons; bit 31: the entry failed */
#define REASON_EVENT		0u		/* exception or NMI, see EXIT_EVENT */
#define REASON_TRIPLE_FAULT	2u
#define REASON_INIT		3u
#define REASON_NMI_WINDOW	8u
#define REASON_CPUID		10u
#define REASON_GETSEC		11u
#define REASON_INVD		13u
#define REASON_VMCALL		18u
#define REASON_VMCLEAR		19u		/* VMCLEAR .. VMXON: 19 to 27 */
#define REASON_VMXON		27u
#define REASON_CR		28u
#define REASON_PORT		30u
#define REASON_RDMSR		31u
#define REASON_WRMSR		32u
#define REASON_EPT		48u
#define REASON_INVEPT		50u
#define REASON_INVVPID		53u
#define REASON_WBINVD		54u
#define REASON_XSETBV		55u
#define REASON_XSAVES		63u
#define REASON_XRSTORS		64u
#define REASON_ENTRY_FAILED	(1u << 31)
/* a machine check during VM entry */
#define REASON_ENTRY_CHECK	(REASON_ENTRY_FAILED | 41)

/* Bits of ENTRY_EVENT, EXIT_EVENT and IDT_EVENT */
#define EVENT_VALID		(1u << 31)
#define EVENT_ERROR		(1u << 11)
#define EVENT_TYPE		(7u << 8)
#define EVENT_NMI		(2u << 8)
#define EVENT_EXCEPTION		(3u << 8)
/* type: INT n; types 5 and 6 are INT1, and INT3 or INTO */
#define EVENT_SOFT		(4u << 8)
/* Caused by an IRET that ended blocking by NMI; an EPT qualification has this bit too */
#define EVENT_FROM_IRET		(1u << 12)

#define BLOCKING_STI		(1u << 0)
#define BLOCKING_MOV_SS		(1u << 1)
#define BLOCKING_NMI		(1u << 3)
#define BLOCKING_SHADOW		(BLOCKING_STI | BLOCKING_MOV_SS)

#define RIGHTS_UNUSABLE		(1u << 16)
#define RIGHTS_LONG		(1u << 13)
#define RIGHTS_BIG		(1u << 14)

#define EPT_WALK(levels)	(((levels) - 1) << 3)
#define EPT_WRITE_BACK		6u		/* memory type of the tables */

#endif
