/* SPDX-License-Identifier: GPL-2.0-only */
/* How a CPU comes from Linux and goes back. */
#ifndef QV_ABI_LINUX_STATE_H
#define QV_ABI_LINUX_STATE_H

#include "abi/types.h"

/* A segment register as in the VMCS. Bit 16 of rights: unusable */
struct qv_linux_seg {
	u16 sel, pad;
	u32 limit, rights, pad2;
	u64 base;
};

/*
 * The state of Linux on a CPU when the trampoline leaves Linux; the trampoline fills it. On VT-x
 * also the state for the CPU's way back. The driver loads the part of it that a VM exit does not
 * load.
 */
struct qv_linux_state {
	u64 rsp, rip, rflags;
	u64 cr0, cr3, cr4, efer;
	u64 gdt_base, idt_base;
	u32 gdt_limit, idt_limit;
	u16 cs, ss, ds, es;
	u16 tr, ldt, pad[2];
	u64 pat, s_cet, debugctl, ssp_table;
	struct qv_linux_seg fs, gs, tr_seg, ldt_seg;	/* VT-x only, since AMD-V has VMSAVE */
	/* VT-x only: a VM exit changes these */
	u64 dr7, sysenter_cs, sysenter_esp, sysenter_eip;
	u64 error;		/* out: 0, or enum qv_mon_error if the CPU came straight back */
};

#endif
