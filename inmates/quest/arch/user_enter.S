/* SPDX-License-Identifier: GPL-2.0-only */
/* user_enter(frame): the first entry of a thread into ring 3. */
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
