/* SPDX-License-Identifier: GPL-2.0-only */
/* user_enter(frame): from the kernel to ring 3, for the first time in a thread's life. */
	.text
	.globl	user_enter
	.type	user_enter, @function
user_enter:
	xorl	%eax, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %fs
	movl	%eax, %gs
	movq	%rdi, %rsp
	jmp	trap_return
	.size	user_enter, . - user_enter

	.section .note.GNU-stack, "", @progbits
