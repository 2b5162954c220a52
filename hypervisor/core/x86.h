/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers and bits of both vendors: AMD APM vol. 2, appendix A; Intel SDM vol. 4, chapter 2 */
#ifndef QV_X86_H
#define QV_X86_H

#define APIC_PAGE	0xfee00000ull	/* default address of the local APIC; 4 KiB */
#define MESSAGES	0xfee00000ull	/* a device's write to this range is an interrupt */
#define MESSAGES_LEN	0x100000ull
#define MSR_APIC_BASE	0x1bu
#define APIC_BASE_X2	(1ull << 10)	/* EXTD */
#define APIC_BASE_ON	(1ull << 11)	/* EN */
#define MSR_SPEC_CTRL	0x48u
#define MSR_MCG_STATUS	0x17au
#define MSR_DEBUGCTL	0x1d9u
#define MSR_S_CET	0x6a2u
#define MSR_X2APIC	0x800u		/* to 0x83f */
#define MSR_X2APIC_ICR	0x830u
#define MSR_XSS		0xda0u
#define MSR_EFER	0xc0000080u

#define CR0_PE		(1ull << 0)
#define CR0_PG		(1ull << 31)
#define CR0_RESET	0x60000010ull	/* bits of CR0: CD, NW, ET */
#define CR4_PSE		(1ull << 4)
#define CR4_PAE		(1ull << 5)
#define CR4_MCE		(1ull << 6)
#define CR4_LA57	(1ull << 12)
#define CR4_OSXSAVE	(1ull << 18)
#define CR4_PKE		(1ull << 22)
#define EFER_LMA	(1ull << 10)
#define RFLAGS_TF	(1ull << 8)
#define DEBUGCTL_BTF	(1ull << 1)	/* DEBUGCTL: TF traps branches only */
#define DR6_BS		(1ull << 14)	/* DR6: a single step has ended */
#define DR7_GD		(1ull << 13)	/* DR7: the next access to a debug register traps */
#define PAT_RESET	0x0007040600070406ull

#endif
