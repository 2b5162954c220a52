/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs of user/, packed by user/pack.py; ARCHIVE comes from the Makefile. */
	.section .rodata
	.balign	8
	.globl	archive_start, archive_end
archive_start:
	.incbin	ARCHIVE
archive_end:

	.section .note.GNU-stack, "", @progbits
