/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The entry from a multiboot loader. Switches from 32-bit protected mode without paging to long
 * mode, and calls C code. The boot page tables map the first 4 GiB one to one with 2 MiB pages, so
 * the loader's information can be read wherever it is. The kernel replaces them.
 *
 * The code assumes nothing about CR0, CR4 and EFER: in a cell they are as after INIT.
 */

#define MB1_HEADER_MAGIC	0x1BADB002
#define MB1_FLAGS		0x00000002	/* flag: the loader must give memory information */
#define MB2_HEADER_MAGIC	0xE85250D6
#define MB2_ARCH_I386		0

/* bits PG WP NE ET MP PE; caches are on, TS and EM are off */
#define CR0_LONG	0x80010033
#define CR4_PAE		0x20
#define MSR_EFER	0xC0000080
#define EFER_LME	0x100

#define PTE_TABLE	0x3		/* present, writable */
#define PTE_LARGE	0x83		/* page table entry: present, writable, 2 MiB */

	.section .boot.header, "a"
	.balign 8
mb2_header:
	.long	MB2_HEADER_MAGIC
	.long	MB2_ARCH_I386
	.long	mb2_header_end - mb2_header
	.long	-(MB2_HEADER_MAGIC + MB2_ARCH_I386 + (mb2_header_end - mb2_header))
	.short	0, 0			/* end tag */
	.long	8
mb2_header_end:

	.balign 4
mb1_header:
	.long	MB1_HEADER_MAGIC
	.long	MB1_FLAGS
	.long	-(MB1_HEADER_MAGIC + MB1_FLAGS)

	.section .boot, "ax"
	.code32
	.globl	start32
	.type	start32, @function
start32:
	cli
	cld
	movl	$boot_stack_top, %esp
	movl	%eax, %edi		/* the loader's magic number: first argument */
	movl	%ebx, %esi		/* the loader's information: second argument */

	/* four page directories that cover 4 GiB */
	movl	$boot_pd, %ebx
	movl	$PTE_LARGE, %eax
	xorl	%ecx, %ecx
1:	movl	%eax, (%ebx, %ecx, 8)
	movl	$0, 4(%ebx, %ecx, 8)
	addl	$0x200000, %eax
	incl	%ecx
	cmpl	$(4 * 512), %ecx
	jb	1b

	movl	$boot_pdpt, %ebx
	movl	$boot_pd + PTE_TABLE, %eax
	xorl	%ecx, %ecx
2:	movl	%eax, (%ebx, %ecx, 8)
	addl	$0x1000, %eax
	incl	%ecx
	cmpl	$4, %ecx
	jb	2b
	movl	$boot_pdpt + PTE_TABLE, boot_pml4

	movl	$CR4_PAE, %eax
	movl	%eax, %cr4
	movl	$boot_pml4, %eax
	movl	%eax, %cr3
	movl	$MSR_EFER, %ecx
	rdmsr
	orl	$EFER_LME, %eax
	wrmsr
	movl	$CR0_LONG, %eax
	movl	%eax, %cr0

	lgdt	boot_gdtr
	ljmp	$0x08, $start64
	.size	start32, . - start32

	.code64
	.type	start64, @function
start64:
	movl	$0x10, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	xorl	%eax, %eax
	movl	%eax, %fs
	movl	%eax, %gs
	/* the upper halves of registers are undefined after the switch */
	movl	%edi, %edi
	movl	%esi, %esi
	movq	$boot_stack_top, %rsp
	xorl	%ebp, %ebp
	call	inmate_main
3:	cli
	hlt
	jmp	3b
	.size	start64, . - start64

	.section .rodata
	.balign 8
boot_gdt:
	.quad	0
	.quad	0x00AF9B000000FFFF	/* 0x08: code, 64 bit */
	.quad	0x00CF93000000FFFF	/* 0x10: data */
boot_gdtr:
	.short	. - boot_gdt - 1
	.long	boot_gdt

	.section .bss
	.balign 4096
boot_pml4:
	.skip	4096
boot_pdpt:
	.skip	4096
boot_pd:
	.skip	4 * 4096

	.section .note.GNU-stack, "", @progbits
