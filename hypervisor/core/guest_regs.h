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
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	mov	8 * \n(%rdi), %r\n
	.endr
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
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	mov	%r\n, 8 * \n(%rdi)
	.endr
	.endm
