/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page that Linux and the monitor both map at the same address. It switches page tables. It is
 * part of the module's text because a module may execute no other memory. All of this code is in
 * one page, which holds nothing else.
 */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>
#include "trampoline.h"

	.text
	.balign	4096
/*
 * u64 qv_svm_cross(rdi = struct qv_linux_state, rsi = the monitor's CR3, rdx = its entry,
 *	rcx = struct pcpu there, r8 = CR4 to use meanwhile,
 *	r9d = 0: to the monitor, 1: back from it)
 *
 * Interrupts are off, EFER.SVME is on.
 * To the monitor: returns 0 as a guest, or the monitor's error natively if the monitor backed out.
 * Back from it: returns 0 natively, or the monitor's refusal as a guest.
 */
SYM_FUNC_START(qv_svm_cross)
	save_callers
	test	%r9d, %r9d
	jnz	1f
	note_state qv_svm_resume
	jmp	qv_svm_over
1:	mov	$1, %eax		/* eax = QV_HC_LEAVE */
	vmmcall
SYM_INNER_LABEL(qv_svm_resume, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	load_callers
	RET
SYM_FUNC_END(qv_svm_cross)

SYM_CODE_START_LOCAL(qv_svm_over)
	/* Blocks NMIs, too: Linux's handler is not mapped in the monitor */
	clgi
	mov	%r8, %cr4
	mov	%rsi, %cr3
	mov	%rcx, %rdi
	ANNOTATE_RETPOLINE_SAFE
	jmp	*%rdx
SYM_CODE_END(qv_svm_over)

/*
 * The monitor jumps here to leave: rdi = CR3, rsi = CR4, rcx = rip, r8 = rflags, rax = result. RSP,
 * GDT and IDT are already those of Linux.
 */
SYM_CODE_START(qv_svm_leave)
	UNWIND_HINT_FUNC
	ANNOTATE_NOENDBR
	mov	%rdi, %r10
	and	$~0xfff, %r10		/* CR4.PCIDE can only be set while the PCID is 0 */
	mov	%r10, %cr3
	mov	%rsi, %cr4
	mov	%rdi, %cr3
	mov	$0x18, %r10d		/* __KERNEL_DS */
	mov	%r10d, %ss
	push	%r8
	popf
	push	$0x10			/* __KERNEL_CS */
	push	%rcx
	stgi				/* all state is Linux's again, so NMIs may arrive */
	lretq
SYM_CODE_END(qv_svm_leave)
	.balign	4096
