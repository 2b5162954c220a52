/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The first instruction of a program. */
	.text
	.globl	_start
	.type	_start, @function
_start:
	xorl	%ebp, %ebp
	/*
	 * the kernel has put argc and argv into the registers of main()'s arguments; RSP is aligned
	 */
	call	main
	movl	%eax, %edi
	call	exit
	ud2
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
