/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * void os_stack_begin(uint64_t *save, uint8_t *top, void (*entry)(void))
 *
 * As switch_context() of the library, but calls `entry` on an empty stack. `entry` does not return.
 */
	.text
	.globl	os_stack_begin
	.type	os_stack_begin, @function
os_stack_begin:
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, (%rdi)
	movq	%rsi, %rsp
	xorl	%ebp, %ebp
	call	*%rdx
	ud2
	.size	os_stack_begin, . - os_stack_begin

/* void os_stack_call(uint8_t *top, void (*function)(const void *), const void *argument) */
	.globl	os_stack_call
	.type	os_stack_call, @function
os_stack_call:
	pushq	%rbp
	movq	%rsp, %rbp
	movq	%rdi, %rsp
	movq	%rdx, %rdi
	call	*%rsi
	movq	%rbp, %rsp
	popq	%rbp
	ret
	.size	os_stack_call, . - os_stack_call

	.section .note.GNU-stack, "", @progbits
