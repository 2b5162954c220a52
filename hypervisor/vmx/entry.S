/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The monitor's assembly on VT-x: the image's head, the entry from Linux, the VMRESUME loop, the
 * way back, and functions that C cannot express.
 */
#define CPU_OFF_NMI 0x1000
#define HOST_RSP 0x6c14
#define HOST_RIP 0x6c16

#include "../core/guest_regs.h"

	.section .head, "a"
	.ascii	"QVMON01\0"
	.long	monitor_start
	.long	image_text_end
	.long	image_end
	.long	2				/* VT-x */
	.long	vector_stubs
	.long	vector_rest
	.long	gdt
	.long	qv_build			/* scripts/contract, given to the linker */

	.text
/*
 * From Linux, by the host fields of a VMCS (driver/cross/vmx.c): our tables, segments, IDT, TSS.
 * rdi = struct pcpu, rsp = top of this CPU's stack
 */
	.globl	monitor_start
monitor_start:
	cld
	xor	%ebp, %ebp
	push	$0				/* align the stack as after a call */
	jmp	monitor_entry

/*
 * vendor_run(rdi = struct pcpu): guest registers lie at its start, rsp is in the VMCS. The stack
 * restarts here. There is no GIF: an NMI may come at any moment. Its handler leaves a note, which
 * is checked last. An NMI that comes after the check causes another check.
 */
	.globl	vendor_run
vendor_run:
	lea	0x7ff0(%rdi), %rsp		/* HOST_RSP */
	mov	%rdi, (%rsp)
enter:	mov	(%rsp), %rdi
look:	cmpl	$0, CPU_OFF_NMI(%rdi)
	jne	noted
	mov	0x00(%rdi), %rax
	load_guest
	vmresume
	vmlaunch				/* the first entry, which VMRESUME refuses */
looked:
	mov	(%rsp), %rdi
	mov	$0x20000, %esi			/* CODE_ENTRY_FAILED */
	jmp	2f
noted:	movl	$0, CPU_OFF_NMI(%rdi)
	mov	$0x10002, %esi			/* CODE_NMI */
2:	call	vmx_handle
	jmp	enter

	.globl	vmx_exited
vmx_exited:
	push	%rdi
	mov	8(%rsp), %rdi
	mov	%rax, 0x00(%rdi)
	save_guest
	xor	%ebp, %ebp
	call	vmx_exit
	jmp	enter

/* An NMI in the monitor (core/traps.S); the vector lies above the processor's frame */
	.globl	vendor_nmi_entry
vendor_nmi_entry:
	push	%rax
	mov	%rsp, %rax
	and	$-0x8000, %rax			/* rax = start of the CPU's area */
	movl	$1, CPU_OFF_NMI(%rax)
	cmpq	$look, 0x10(%rsp)
	jb	1f
	cmpq	$looked, 0x10(%rsp)
	jae	1f
	movq	$enter, 0x10(%rsp)
1:	pop	%rax
	add	$8, %rsp
	iretq

/* bool vmx_try(void): no guest instruction runs */
	.globl	vmx_try
vmx_try:
	mov	$HOST_RSP, %eax
	vmwrite	%rsp, %rax
	mov	$HOST_RIP, %eax
	lea	1f(%rip), %rcx
	vmwrite	%rcx, %rax
	vmlaunch
	xor	%eax, %eax
	ret
1:	mov	$1, %eax
	ret

/*
 * vmx_cross(rdi: for the code at the host RIP): makes a VM entry with an illegal guest state, which
 * loads the host state.
 */
	.globl	vmx_cross
vmx_cross:
	vmresume
	vmlaunch
	ud2

	.globl	vmx_unblock_nmi
vmx_unblock_nmi:
	mov	%rsp, %rax
	push	$0x18
	push	%rax
	pushf
	push	$0x10
	push	$1f
	iretq
1:	ret

	.globl	vendor_shutdown
vendor_shutdown:
	/* Some chipsets turn a shutdown into an INIT, which VMX operation blocks */
	vmxoff
	push	$0
	push	$0
	lidt	(%rsp)
	ud2

/* Interrupts can come from take_first to take_last only, where IF is set */
	.globl	vendor_take_interrupts, take_first, take_last
vendor_take_interrupts:
	sti
	nop
take_first:
	nop
	nop
take_last:
	cli
	ret

	.globl	vmx_load
vmx_load:
	push	%rdi
	push	$0
	vmptrst	(%rsp)
	vmclear	(%rsp)
	vmclear	8(%rsp)
	vmptrld	8(%rsp)
	add	$16, %rsp
	ret

	.globl	vmx_flush
vmx_flush:
	push	$0
	push	$0
	mov	$2, %eax			/* all contexts */
	invept	(%rsp), %rax
	invvpid	(%rsp), %rax
	add	$16, %rsp
	ret
	.section .note.GNU-stack, "", @progbits
