/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All of the monitor's assembly on AMD-V: the image's head, the entry from
 * Linux, the VMRUN loop, the way back, interrupt entries.
 */
	.section .head, "a"
	.ascii	"QVMON01\0"
	.long	monitor_start
	.long	image_text_end
	.long	image_end
	.long	1				/* AMD-V */

	.text
/* From the trampoline: rdi = struct pcpu, rsp = top of this CPU's stack */
	.globl	monitor_start
monitor_start:
	endbr64
	cld
	lgdt	gdt_pointer(%rip)
	mov	$0x18, %eax
	mov	%eax, %ss
	mov	%eax, %ds			/* VM exits load them anew, from our GDT */
	mov	%eax, %es
	xor	%ebp, %ebp
	push	$0				/* stack is as after a call */
	jmp	monitor_entry

/*
 * svm_run(rdi = struct pcpu, rsi = physical address of its VMCB)
 * The stack restarts here: nothing below is ever returned to. Guest registers
 * lie at the start of struct pcpu; rax and rsp are in the VMCB.
 */
	.globl	svm_run
svm_run:
	lea	0x8000(%rdi), %rsp
	push	%rsi
	push	%rdi
1:	mov	(%rsp), %rdi
	mov	8(%rsp), %rax
	mov	0x08(%rdi), %rcx
	mov	0x10(%rdi), %rdx
	mov	0x18(%rdi), %rbx
	mov	0x28(%rdi), %rbp
	mov	0x30(%rdi), %rsi
	mov	0x40(%rdi), %r8
	mov	0x48(%rdi), %r9
	mov	0x50(%rdi), %r10
	mov	0x58(%rdi), %r11
	mov	0x60(%rdi), %r12
	mov	0x68(%rdi), %r13
	mov	0x70(%rdi), %r14
	mov	0x78(%rdi), %r15
	mov	0x38(%rdi), %rdi
	vmrun	%rax
	/* rax, rsp are ours again; all else is the guest's */
	push	%rdi
	mov	8(%rsp), %rdi
	mov	%rcx, 0x08(%rdi)
	mov	%rdx, 0x10(%rdi)
	mov	%rbx, 0x18(%rdi)
	mov	%rbp, 0x28(%rdi)
	mov	%rsi, 0x30(%rdi)
	pop	0x38(%rdi)
	mov	%r8, 0x40(%rdi)
	mov	%r9, 0x48(%rdi)
	mov	%r10, 0x50(%rdi)
	mov	%r11, 0x58(%rdi)
	mov	%r12, 0x60(%rdi)
	mov	%r13, 0x68(%rdi)
	mov	%r14, 0x70(%rdi)
	mov	%r15, 0x78(%rdi)
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

/* svm_leave(rdi = struct leave_state): all it needs goes into registers, then Linux's tables */
	.globl	svm_leave
svm_leave:
	lgdt	0x3e(%rdi)
	lidt	0x4e(%rdi)
	mov	0x08(%rdi), %rsi		/* cr4 */
	mov	0x10(%rdi), %rdx		/* rsp */
	mov	0x18(%rdi), %rcx		/* rip */
	mov	0x20(%rdi), %r8			/* rflags */
	mov	0x28(%rdi), %rax		/* result in Linux */
	mov	0x30(%rdi), %r9			/* trampoline: switches CR3 and goes on there */
	mov	0x00(%rdi), %rdi		/* cr3 */
	jmp	*%r9

/* The NMI that caused this exit still waits: it comes here, to our own entry */
	.globl	svm_take_nmi
svm_take_nmi:
	stgi
	nop
	nop
	clgi
	ret

/* Interrupts are possible between here and there, no longer: GIF and IF open and close */
	.globl	vendor_take_interrupts
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

/* bool msr_read_safe(edi = msr, rsi = value): #GP makes it false (see fault below) */
	.globl	msr_read_safe
msr_read_safe:
	mov	%edi, %ecx
msr_read_at:
	rdmsr
	mov	%eax, (%rsi)
	mov	%edx, 4(%rsi)
	mov	$1, %eax
	ret
	.globl	msr_write_safe
msr_write_safe:
	mov	%edi, %ecx
	mov	%esi, %eax
	mov	%rsi, %rdx
	shr	$32, %rdx
msr_write_at:
	wrmsr
	mov	$1, %eax
	ret
msr_faulted:
	xor	%eax, %eax
	ret

/* One entry of 16 bytes per exception: error code (or 0) and vector on the stack */
	.balign	16
	.globl	vector_stubs
vector_stubs:
	vector = 0
	.rept	32
	.balign	16
	.if	!(vector == 8 || (vector >= 10 && vector <= 14) || vector == 17 || vector == 21 || vector == 29 || vector == 30)
	push	$0
	.endif
	push	$vector
	jmp	interrupted
	vector = vector + 1
	.endr

/* All other vectors: which one does not matter, it is taken and forgotten */
	.globl	vector_rest
vector_rest:
	push	$0
	push	$0
	jmp	interrupt

interrupted:
	cmpl	$2, (%rsp)			/* NMI: that it came is all there is to know */
	jne	fault
	add	$16, %rsp
	iretq

interrupt:
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	cld
	call	apic_eoi
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	add	$16, %rsp
	iretq

/*
 * Below 32, and yet no fault: the APIC delivers vectors from 16 on, and a guest
 * may have left such a one behind. It came in the window above, and pushed no
 * error code: so where a stub took one for granted, the frame is 8 bytes short.
 */
fault:
	push	%rax
	push	%rcx
	lea	take_first(%rip), %rax
	lea	take_last(%rip), %rcx
	cmp	%rax, 32(%rsp)
	jb	1f
	cmp	%rcx, 32(%rsp)
	jbe	5f
1:	cmp	%rax, 24(%rsp)
	jb	2f
	cmp	%rcx, 24(%rsp)
	jbe	6f
2:	pop	%rcx
	pop	%rax
	jmp	7f
5:	pop	%rcx
	pop	%rax
	jmp	interrupt
6:	pop	%rcx
	pop	%rax
	pushq	(%rsp)			/* make the frame like the others': vector, "error", rip */
	jmp	interrupt
7:	cmpl	$13, (%rsp)
	jne	3f
	lea	msr_read_at(%rip), %rax
	cmp	%rax, 16(%rsp)
	je	4f
	lea	msr_write_at(%rip), %rax
	cmp	%rax, 16(%rsp)
	je	4f
3:	mov	(%rsp), %rdi
	mov	16(%rsp), %rsi
	mov	%rsp, %rdx
	and	$-16, %rsp
	call	monitor_fault
4:	lea	msr_faulted(%rip), %rax
	mov	%rax, 16(%rsp)
	add	$16, %rsp
	iretq

	.section .rodata
	.balign	16
gdt:	.quad	0, 0
	.quad	0x00af9b000000ffff		/* 0x10: 64-bit code */
	.quad	0x00cf93000000ffff		/* 0x18: data */
gdt_pointer:
	.word	. - gdt - 1
	.quad	gdt
	.section .note.GNU-stack, "", @progbits
