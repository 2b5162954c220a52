/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of cases. The Makefile gives their folder to the assembler. */
	.macro	family name
	.globl	cases_\name
cases_\name :
	.incbin	"\name\().cases"
	.byte	0
	.endm

	.section .rodata
	family	alarm
	family	com
	family	counter
	family	event
	family	hook
	family	interrupt
	family	resource
	family	sync
	family	table
	family	task

	.section .note.GNU-stack, "", @progbits
