/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where a program starts. */
	.text
	.globl	_start
	.type	_start, @function
_start:
	xorl	%ebp, %ebp
	call	main			/* argc and argv are where main() wants them; RSP is aligned */
	movl	%eax, %edi
	call	exit
	ud2
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
