/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page that Linux and the monitor both map, at the same address: a module's
 * text is the only memory a module may execute, so the switch of page tables
 * happens here. Everything is in one page, of its own.
 */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>
#include "trampoline.h"

	.text
	.balign	4096
/*
 * u64 qv_svm_cross(rdi = struct qv_linux_state, rsi = the monitor's CR3, rdx = its entry,
 *	rcx = struct pcpu there, r8 = CR4 to use meanwhile, r9d = 0: to the monitor, 1: back from it)
 *
 * Interrupts are off, EFER.SVME is on. To the monitor, it returns as a guest: 0; or natively when
 * it backed out, with its error. Back, it returns natively: 0; or as a guest: the monitor's refusal.
 */
SYM_FUNC_START(qv_svm_cross)
	save_callers
	test	%r9d, %r9d
	jnz	1f
	note_state qv_svm_resume
	jmp	qv_svm_over
1:	mov	$1, %eax		/* QV_HC_LEAVE */
	vmmcall
SYM_INNER_LABEL(qv_svm_resume, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	load_callers
	RET
SYM_FUNC_END(qv_svm_cross)

SYM_CODE_START_LOCAL(qv_svm_over)
	clgi				/* from here not even an NMI: its handler is not mapped there */
	mov	%r8, %cr4
	mov	%rsi, %cr3
	mov	%rcx, %rdi
	ANNOTATE_RETPOLINE_SAFE
	jmp	*%rdx
SYM_CODE_END(qv_svm_over)

/*
 * The monitor jumps here to leave: rdi = CR3, rsi = CR4, rcx = rip, r8 = rflags,
 * rax = result. RSP, GDT and IDT are Linux's already.
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
	stgi				/* all is Linux's again: NMIs may come */
	lretq
SYM_CODE_END(qv_svm_leave)
	.balign	4096
