/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For entry.S of both vendors. rdi: struct pcpu, which starts with the guest's registers. Not rax,
 * rsp.
 */
	.macro	load_guest
	mov	0x08(%rdi), %rcx
	mov	0x10(%rdi), %rdx
	mov	0x18(%rdi), %rbx
	mov	0x28(%rdi), %rbp
	mov	0x30(%rdi), %rsi
	mov	0x40(%rdi), %r8
	mov	0x48(%rdi), %r9
	mov	0x50(%rdi), %r10
	mov	0x58(%rdi), %r11
	mov	0x60(%rdi), %r12
	mov	0x68(%rdi), %r13
	mov	0x70(%rdi), %r14
	mov	0x78(%rdi), %r15
	mov	0x38(%rdi), %rdi
	.endm

/* The guest's rdi is on the stack; this macro pops it */
	.macro	save_guest
	mov	%rcx, 0x08(%rdi)
	mov	%rdx, 0x10(%rdi)
	mov	%rbx, 0x18(%rdi)
	mov	%rbp, 0x28(%rdi)
	mov	%rsi, 0x30(%rdi)
	pop	0x38(%rdi)
	mov	%r8, 0x40(%rdi)
	mov	%r9, 0x48(%rdi)
	mov	%r10, 0x50(%rdi)
	mov	%r11, 0x58(%rdi)
	mov	%r12, 0x60(%rdi)
	mov	%r13, 0x68(%rdi)
	mov	%r14, 0x70(%rdi)
	mov	%r15, 0x78(%rdi)
	.endm
