/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The stack on which start.S calls inmate_main(), and a guard page below it. An inmate with its own
 * page tables may leave the guard page unmapped, so that a stack overflow faults.
 */
	.section .bss
	.balign	4096
	.globl	boot_guard
boot_guard:
	.skip	4096
	.globl	boot_stack
boot_stack:
	.skip	16384
	.globl	boot_stack_top
boot_stack_top:

	.section .note.GNU-stack, "", @progbits
