/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * 256 entry points of 16 bytes each. For a vector without an error code, the entry point pushes 0
 * in its place, so that every frame has the layout of struct trap_frame.
 */
#include <inmate/frame.S>

/* The CPU pushes an error code for the exceptions 8, 10-14, 17, 21, 29 and 30. */
#define ERROR_CODE_VECTORS	0x60227D00

	.text
	.balign	16
	.globl	trap_stubs
trap_stubs:
	.set	vector, 0
	.rept	256
	.balign	16
	.if	vector < 32
	.if	((ERROR_CODE_VECTORS >> vector) & 1) == 0
	pushq	$0
	.endif
	.else
	pushq	$0
	.endif
	pushq	$vector
	jmp	trap_common
	.set	vector, vector + 1
	.endr

	.type	trap_common, @function
trap_common:
	push_registers
	pushq	$2			/* clears AC, DF, NT and TF for the kernel */
	popfq
	movq	%rsp, %rdi
	call	trap_dispatch
	.globl	trap_return		/* RSP points to a struct trap_frame; interrupts are off */
trap_return:
	pop_registers
	addq	$16, %rsp		/* drops vector and error code from the stack */
	iretq
	.size	trap_common, . - trap_common

	.section .note.GNU-stack, "", @progbits
