/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code of a second CPU after its SIPI: 16-bit, copied to 0x8000, hence position-independent.
 * COUNTER is at 0x7000.
 */
	.text
	.code16

	.macro	REACH_4G		/* FS gets 4 GiB and real mode stays: "unreal" mode */
	cli
	xorw	%ax, %ax
	movw	%ax, %ds
	movl	$0, 0x7100		/* a descriptor table at 0x7100: null, then data */
	movl	$0, 0x7104
	movl	$0x0000FFFF, 0x7108
	movl	$0x008F9300, 0x710C
	movw	$15, 0x7120
	movl	$0x7100, 0x7122
	lgdtl	0x7120
	movl	%cr0, %eax
	orb	$1, %al
	movl	%eax, %cr0
	movw	$8, %bx
	movw	%bx, %fs
	andb	$0xFE, %al
	movl	%eax, %cr0
	.endm

	.macro	STAY
9:	cli
	hlt
	jmp	9b
	.endm

	.macro	COUNT_AT_UD	/* vector 6 leads to a page with code that counts and loops */
	xorw	%ax, %ax
	movw	%ax, %ds
	movw	%ax, %ss
	movw	$0x7F00, %sp
	movw	$0x7200, 6 * 4
	movw	%ax, 6 * 4 + 2
	movl	$0x700006FF, 0x7200	/* incw 0x7000 */
	movl	$0x00FDEBF4, 0x7204	/* bytes of `hlt`, and a jump back to it */
	.endm

	.balign	256
	.globl	code16_count
code16_count:
	cli
	xorw	%ax, %ax
	movw	%ax, %ds
	movw	%ax, %ss
	movw	$0x7F00, %sp
	movw	$0x7300, 2 * 4		/* the handler of NMIs only returns */
	movw	%ax, 2 * 4 + 2
	movb	$0xCF, 0x7300
1:	incw	0x7000
	jmp	1b

	.balign	256
	.globl	code16_memory
code16_memory:
	REACH_4G
	incw	0x7000
	movl	$0xFEC00000, %ebx
	movl	%fs:(%ebx), %eax
	STAY

	.balign	256
	.globl	code16_port
code16_port:
	movw	$0xCF9, %dx
	movb	$6, %al
	outb	%al, %dx
	STAY

	.balign	256
	.globl	code16_msr
code16_msr:
	movl	$0xC0010117, %ecx
	xorl	%eax, %eax
	xorl	%edx, %edx
	wrmsr
	STAY

	.balign	256
	.globl	code16_triple
code16_triple:
	xorw	%ax, %ax
	movw	%ax, %ds
	movl	$0, 0x7120
	movl	$0, 0x7124
	lidtl	0x7120
	int3
	STAY

	.balign	256
	.globl	code16_vmrun
code16_vmrun:
	COUNT_AT_UD
	vmrun
	STAY

	.balign	256
	.globl	code16_vmmcall
code16_vmmcall:
	COUNT_AT_UD
	xorl	%eax, %eax
	vmmcall
	STAY

	.balign	256
	.globl	code16_vmcall
code16_vmcall:
	COUNT_AT_UD
	xorl	%eax, %eax
	vmcall
	STAY

	.balign	256
	.globl	code16_vmxon
code16_vmxon:
	COUNT_AT_UD
	vmxon	0x7400
	STAY

	.balign	256
	.globl	code16_icr
code16_icr:
	REACH_4G
	movl	$0xFEE00310, %ebx
	movl	$0, %fs:(%ebx)
	movl	$0xFEE00300, %ebx
	movl	$0x4500, %fs:(%ebx)
	STAY

	.balign	256
	.globl	code16_wild
code16_wild:
	xorw	%ax, %ax
	movw	%ax, %ds
	movw	$0x00FF, 0x7400		/* an undefined instruction, with no code after it */
	ljmp	$0, $0x7400

	.balign	256
	.globl	code16_cpuid
code16_cpuid:
	movl	$1, %eax
	cpuid
	jmp	code16_cpuid

/* Replaces the instruction at 0x6000 by others, again and again */
	.balign	256
	.globl	code16_race
code16_race:
	xorw	%ax, %ax
	movw	%ax, %ds
2:	movb	$0x80, 0x6001
	movb	$0x00, 0x6001
	movw	$0x4500, 0x6002
	movw	$0x9090, 0x6000
	movw	$0x00C7, 0x6000
	movw	$0x0000, 0x6002
	jmp	2b
	.skip	256

	.section .note.GNU-stack, "", @progbits
