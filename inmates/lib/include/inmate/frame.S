/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Push and pop the registers of a struct trap_frame (inmate/trap.h). For assembly only. */

	.macro	push_registers
	.irp	register, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
	pushq	%\register
	.endr
	.endm

	.macro	pop_registers
	.irp	register, r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax
	popq	%\register
	.endr
	.endm
