/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The entry of a cell on standby, at its first start and after each failure. It runs in the cell,
 * from the ROM, on the boot CPU while all others wait: 32-bit protected mode, paging and interrupts
 * off. It stops the DMA of the cell's devices, restores the memory, and enters the image. It uses
 * no memory but the ROM: %ebx is the address of struct rom_head.
 */
#include <linux/linkage.h>
#include "standby.h"

#define CONFIG_ADDRESS	0xcf8
#define CONFIG_DATA	0xcfc
#define BUS_MASTER	4		/* in the command register */
#define CR4_OSFXSR	0x200		/* CR4 is 0 at the entry, and again at that of the image */

	.section .rodata
	.balign	16
	.code32
SYM_DATA_START(qv_standby_rom)
	cld
	/*
	 * The command register is read again: the answer comes after all that the device wrote to
	 * memory before
	 */
	movl	ROM_DEVICES(%ebx), %ecx
	leal	ROM_COMMANDS(%ebx), %esi
1:	jecxz	2f
	lodsl
	movl	$CONFIG_ADDRESS, %edx
	outl	%eax, %dx
	movl	$CONFIG_DATA, %edx
	inw	%dx, %ax
	andl	$~BUS_MASTER, %eax
	outw	%ax, %dx
	inw	%dx, %ax
	decl	%ecx
	jmp	1b

	/* each step: to, from (0: fill with zeros), number of 32-bit words */
2:	movl	$CR4_OSFXSR, %eax
	movl	%eax, %cr4
	xorps	%xmm0, %xmm0
	movl	ROM_NUM(%ebx), %ebp
	leal	ROM_STEPS(%ebx), %edx
3:	movl	0(%edx), %edi
	movl	4(%edx), %esi
	movl	8(%edx), %ecx
	testl	%esi, %esi
	jz	4f
	rep movsl
	jmp	5f
	/* most steps are whole pages: 128 bytes at a time, not by way of the caches */
4:	testl	$1023, %ecx
	jnz	7f
	shrl	$5, %ecx
6:	movntps	%xmm0, 0x00(%edi)
	movntps	%xmm0, 0x10(%edi)
	movntps	%xmm0, 0x20(%edi)
	movntps	%xmm0, 0x30(%edi)
	movntps	%xmm0, 0x40(%edi)
	movntps	%xmm0, 0x50(%edi)
	movntps	%xmm0, 0x60(%edi)
	movntps	%xmm0, 0x70(%edi)
	subl	$-128, %edi
	decl	%ecx
	jnz	6b
	jmp	5f
7:	xorl	%eax, %eax
	rep stosl
5:	addl	$ROM_STEP_LEN, %edx
	decl	%ebp
	jnz	3b
	sfence
	xorl	%eax, %eax
	movl	%eax, %cr4

	rdtsc
	movl	%eax, ROM_ENTERED
	movl	%edx, ROM_ENTERED + 4
	movl	0(%ebx), %ecx
	movl	4(%ebx), %eax
	movl	8(%ebx), %ebx
	jmp	*%ecx
SYM_DATA_END_LABEL(qv_standby_rom, SYM_L_GLOBAL, qv_standby_rom_end)
	.code64
