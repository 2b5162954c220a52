/* SPDX-License-Identifier: GPL-2.0-only */
/* AMD-V's assembly: the image's head, the entry from Linux, the VMRUN loop, the way back. */
#include "../core/guest_regs.h"

	.section .head, "a"
	.ascii	"QVMON01\0"
	.long	monitor_start
	.long	image_text_end
	.long	image_end
	.long	1				/* AMD-V */
	.long	vector_stubs
	.long	vector_rest
	.long	gdt
	.long	qv_build			/* scripts/contract, given to the linker */

	.text
/* From the trampoline: rdi = struct pcpu; there is no stack yet */
	.globl	monitor_start
monitor_start:
	endbr64
	lea	0x8000(%rdi), %rsp		/* rsp = top of this CPU's area */
	cld
	lgdt	gdt_pointer(%rip)
	mov	$0x18, %eax
	mov	%eax, %ss
	/* VM exits reload these segments from the monitor's GDT */
	mov	%eax, %ds
	mov	%eax, %es
	xor	%ebp, %ebp
	push	$0				/* align the stack as after a call */
	jmp	monitor_entry

/*
 * svm_run(rdi = struct pcpu, rsi = physical address of its VMCB)
 * The stack restarts here, since no earlier call returns. Guest registers are at the start of
 * struct pcpu; rax and rsp are in the VMCB. VMLOAD and VMSAVE exchange the state that VMRUN does
 * not, mainly TR: a double fault of the monitor needs the monitor's TR.
 */
	.globl	svm_run
svm_run:
	lea	0x8000(%rdi), %rsp
	push	%rsi
	push	%rdi
1:	mov	(%rsp), %rdi
	mov	8(%rsp), %rax
	vmload	%rax
	load_guest
	vmrun	%rax
	vmsave	%rax
	/* rax, rsp hold the monitor's values again; all other registers hold guest values */
	push	%rdi
	mov	8(%rsp), %rdi
	save_guest
	sub	$0x1000, %rax			/* from CPU_OFF_VMCB to CPU_OFF_HOST */
	vmload	%rax
	xor	%ebp, %ebp
	cld
	call	svm_exit
	jmp	1b

/* vendor_move(rdi = cr3, rsi = stack, rdx = function, rcx = its argument) */
	.globl	vendor_move
vendor_move:
	mov	%rdi, %cr3
	mov	%rsi, %rsp
	mov	%rcx, %rdi
	push	$0
	jmp	*%rdx

/* svm_leave(rdi = struct leave_state): loads all it needs into registers, then Linux's tables */
	.globl	svm_leave
svm_leave:
	lgdt	0x3e(%rdi)
	lidt	0x4e(%rdi)
	mov	0x08(%rdi), %rsi		/* cr4 */
	mov	0x10(%rdi), %rsp		/* Linux's stack, which is not mapped here */
	mov	0x18(%rdi), %rcx		/* rip */
	mov	0x20(%rdi), %r8			/* rflags */
	mov	0x28(%rdi), %rax		/* the result that Linux sees */
	mov	0x30(%rdi), %r9			/* the trampoline switches CR3 and continues */
	mov	0x00(%rdi), %rdi		/* cr3 */
	jmp	*%r9

/* svm_try(rdi = physical address of a VMCB): no guest instruction runs, no register changes */
	.globl	svm_try
svm_try:
	mov	%rdi, %rax
	vmrun	%rax
	ret

/* The NMI that caused this exit is still pending. It comes here, to vendor_nmi_entry */
	.globl	svm_take_nmi
svm_take_nmi:
	stgi
	nop
	nop
	clgi
	ret

	.globl	svm_shutdown
svm_shutdown:
	push	$0
	push	$0
	lidt	(%rsp)
	/* Some chipsets turn a shutdown into an INIT, which would stay pending without this */
	stgi
	ud2

/* Interrupts can come from take_first to take_last only, where both GIF and IF are set */
	.globl	vendor_take_interrupts, take_first, take_last
vendor_take_interrupts:
	stgi
	sti
	nop
take_first:
	nop
	nop
take_last:
	cli
	clgi
	ret

/* interrupted (core/traps.S) jumps here. It is enough that the NMI was taken */
	.globl	vendor_nmi_entry
vendor_nmi_entry:
	add	$8, %rsp
	iretq
	.section .note.GNU-stack, "", @progbits
