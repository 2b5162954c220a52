/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * void switch_context(uint64_t *save, uint64_t load)
 *
 * Stores the stack pointer in *save and continues on the stack `load`. The callee-saved registers
 * are on the stacks; the compiler saves the others. Interrupts are off.
 */
	.text
	.globl	switch_context
	.type	switch_context, @function
switch_context:
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, (%rdi)
	movq	%rsi, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret
	.size	switch_context, . - switch_context

/* A new thread's first return: calls r14(r12, r13), which does not return. */
	.globl	first_return
	.type	first_return, @function
first_return:
	movq	%r12, %rdi
	movq	%r13, %rsi
	call	*%r14
	ud2
	.size	first_return, . - first_return

	.section .note.GNU-stack, "", @progbits
