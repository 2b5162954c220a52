/* SPDX-License-Identifier: GPL-2.0-only */
/* Leaves long mode and attacks from there. AMD64 manual volume 2, 14.6 and 1.3. */
	.data
	.balign 8
	.globl	gdt32
gdt32:
	.quad	0
	.quad	0x00AF9B000000FFFF	/* 0x08: code, 64 bit */
	.quad	0x00CF93000000FFFF	/* 0x10: data */
	.quad	0x00CF9B000000FFFF	/* 0x18: code, 32 bit */
	.quad	0, 0			/* selectors 0x20 and 0x28 are tasks: see mode_task() */
gdt32_register:
	.short	. - gdt32 - 1
	.quad	gdt32

	.text
	.code64
/*
 * rdi: address of the code; esi and edx: its two numbers; rcx: CR3 (0: no paging), and CR4 in the
 * upper half
 */
	.globl	mode_enter
mode_enter:
	cli
	lgdt	gdt32_register
	movq	%rcx, %rbx
	shrq	$32, %rbx
	movl	%ecx, %ebp
	movq	$legacy_stack_top, %rsp
	pushq	$0x18
	pushq	$1f
	lretq
	.code32
1:	movl	$0x10, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	%cr0, %eax
	andl	$0x7FFFFFFF, %eax
	movl	%eax, %cr0
	/* RDMSR overwrites EDX, so ESP holds its value; no code here uses the stack */
	movl	%edx, %esp
	movl	$0xC0000080, %ecx
	rdmsr
	andl	$~0x100, %eax
	wrmsr
	movl	%esp, %edx
	movl	$legacy_stack_top, %esp
	testl	%ebp, %ebp
	jz	2f
	movl	%ebx, %cr4
	movl	%ebp, %cr3
	movl	%cr0, %eax
	orl	$0x80000000, %eax
	movl	%eax, %cr0
	jmp	2f
2:	jmp	*%edi

	.globl	code32_read, code32_out, code32_wrmsr, code32_store
code32_read:
	movl	(%esi), %eax
3:	cli
	hlt
	jmp	3b
code32_out:
	movl	%edx, %eax
	movl	%esi, %edx
	outb	%al, %dx
	jmp	3b
code32_wrmsr:
	movl	%edx, %eax
	movl	%esi, %ecx
	xorl	%edx, %edx
	wrmsr
	jmp	3b
code32_store:
	movl	%edx, (%esi)
	jmp	3b

	.globl	code32_task, code32_new_task
code32_task:
	lidtl	(%esi)
	movl	$0x20, %eax
	ltr	%ax
	testl	%edx, %edx
	jnz	4f
	ljmp	$0x28, $0
4:	int	$0x60
	jmp	3b
code32_new_task:
	jmp	code32_read

	.bss
	.balign 16
	.skip	1024
legacy_stack_top:

	.section .note.GNU-stack, "", @progbits
