/* SPDX-License-Identifier: GPL-2.0-only */
/* Handlers that cause the next exception. */
	.text
	.code64
	.globl	storm_again_ud
storm_again_ud:
	ud2

	.globl	storm_again_int2
storm_again_int2:
	int	$2

	.globl	storm_iret
storm_iret:
	/* #AC pushes the error code 0, and #DB pushes none. No return address here is 0 */
	cmpq	$0, (%rsp)
	jne	1f
	addq	$8, %rsp
1:	iretq

	.globl	storm_loop
storm_loop:
	movq	%rax, 0x3000
	jmp	storm_loop

	.globl	storm_touch
storm_touch:
	movabsq	%rax, 0x7F0000001000
	jmp	storm_touch

/* Returns to itself with the trap flag set */
	.globl	storm_trap_flag
storm_trap_flag:
	movq	%rsp, %rbx
1:	movq	%rbx, %rsp
	pushq	$0x10
	pushq	%rbx
	pushq	$0x102
	pushq	$0x08
	pushq	$1b
	iretq

	.globl	storm_shadow
storm_shadow:
	movl	%ss, %eax
1:	sti
	cli
	movl	%eax, %ss
	sti
	cli
	jmp	1b

	.globl	storm_user
storm_user:
	pushq	$0x1B
	pushq	%rsi
	pushq	%rdx
	pushq	$0x23
	pushq	%rdi
	iretq

	.globl	user_code, user_code_end
user_code:
	leaq	user_code(%rip), %rax
1:	movl	0x101(%rax), %ecx
	jmp	1b
user_code_end:

	.section .note.GNU-stack, "", @progbits
