/* SPDX-License-Identifier: GPL-2.0-only */
/* Entry points of the fake cell: CPU 0 comes from a Multiboot 1 loader, CPU 1 from a SIPI. */
	.section .header, "a"
	.balign	4
	.long	0x1BADB002, 2, -(0x1BADB002 + 2)

	.text
	.code32
	.globl	start
start:
	cli
	cld
	movl	$cpu0_stack, %esp
	pushl	%ebx
	call	prepare			/* never returns */

/* void enter(uint32_t entry, uint32_t info): as a Multiboot2 loader does */
	.globl	enter
enter:
	movl	4(%esp), %ecx
	movl	8(%esp), %ebx
	movl	$0x36D76289, %eax
	xorl	%edx, %edx
	movl	%edx, %cr4
	/* caches are off, as after INIT, but protected mode is on */
	movl	$0x60000011, %edx
	movl	%edx, %cr0
	movl	$0xDEADBEEF, %esi
	movl	%esi, %edi
	movl	%esi, %ebp
	xorl	%esp, %esp
	jmp	*%ecx

/* Copied to 0x8000. */
	.code16
	.globl	trampoline, trampoline_end
trampoline:
	cli
	xorw	%ax, %ax
	movw	%ax, %ds
	lgdtl	0x8000 + gdtr - trampoline
	movl	%cr0, %eax
	andl	$0x9FFFFFFF, %eax
	orl	$1, %eax
	movl	%eax, %cr0
	ljmpl	$0x08, $cpu1
	.balign	8
gdtr:	.short	23
	.long	0x8000 + gdt - trampoline
	.balign	8
gdt:	.quad	0, 0x00CF9B000000FFFF, 0x00CF93000000FFFF
trampoline_end:

	.code32
cpu1:
	movw	$0x10, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	movl	$cpu1_stack, %esp
	call	relay			/* never returns */

	.bss
	.balign	16
	.skip	8192
cpu0_stack:
	.skip	8192
cpu1_stack:
	.section .note.GNU-stack, "", @progbits
