/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For trampoline_*.S: saves the registers that C code expects to be kept, and records where Linux
 * resumes.
 */

/* Offsets in struct qv_linux_state; svm.c and vmx.c check them */
#define STATE_RSP	0x00
#define STATE_RIP	0x08
#define STATE_RFLAGS	0x10

	.macro	save_callers
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%ds, %eax
	push	%rax
	mov	%es, %eax
	push	%rax
	.endm

	.macro	load_callers
	pop	%rcx
	mov	%ecx, %es
	pop	%rcx
	mov	%ecx, %ds
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	.endm

/* rdi = struct qv_linux_state: a CPU with this state resumes at @resume */
	.macro	note_state resume
	mov	%rsp, STATE_RSP(%rdi)
	lea	\resume(%rip), %rax
	mov	%rax, STATE_RIP(%rdi)
	movq	$2, STATE_RFLAGS(%rdi)
	.endm
