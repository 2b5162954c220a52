/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The monitor's own interrupts and exceptions, and functions that return false after a fault. The
 * vendor's entry.S has vendor_nmi_entry and vendor_take_interrupts.
 */
	.text

/*
 * bool msr_read_safe(edi = msr, rsi = value), ... : #GP between safe_first and safe_last makes it
 * false.
 */
	.globl	msr_read_safe
msr_read_safe:
	mov	%edi, %ecx
safe_first:
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
	wrmsr
	mov	$1, %eax
	ret
	.globl	xsetbv_safe
xsetbv_safe:
	mov	%edi, %ecx
	mov	%esi, %eax
	mov	%rsi, %rdx
	shr	$32, %rdx
safe_last:
	xsetbv
	mov	$1, %eax
	ret
safe_faulted:
	xor	%eax, %eax
	ret

/* Four bytes per exception; each pushes its vector, above what the processor pushed */
	.balign	4
	.globl	vector_stubs
vector_stubs:
	vector = 0
	.rept	32
	push	$vector
	/* a short jump fits in the entry, since the target is near */
	jmp	interrupted
	vector = vector + 1
	.endr
	/* the assembler reports an error here if an entry is longer than four bytes */
	.org	vector_stubs + 32 * 4

interrupted:
	cmpb	$2, (%rsp)
	je	vendor_nmi_entry
	/*
	 * A vector below 32 may be an interrupt: the APIC delivers vectors from 16 on, and a guest
	 * may have left one of these pending. It comes only between take_first and take_last of
	 * vendor_take_interrupts. It has no error code, whatever its number.
	 */
	cmpq	$take_first, 8(%rsp)
	jb	1f
	cmpq	$take_last, 8(%rsp)
	jbe	interrupt
/* #SX, on AMD-V only: an INIT signal from outside arrived as this exception; ignore it */
1:	cmpb	$30, (%rsp)
	jne	fault
	add	$16, %rsp			/* drop vector and error code from the stack */
	iretq

/* All other vectors: the interrupt is taken and dropped, so its number does not matter */
	.globl	vector_rest
vector_rest:
	push	$0
interrupt:
	/* the interrupted code is in a function call, so these registers are free */
	call	apic_eoi
	add	$8, %rsp
	iretq

/* Vectors whose exception pushes an error code: APM vol. 2, 8.2; SDM vol. 3, 7.13 */
#define ERROR_CODES (1 << 8 | 0x1f << 10 | 1 << 17 | 1 << 21 | 3 << 29)

/*
 * A function whose instruction may fault returns false after the fault. Any other fault ends this
 * guest.
 */
fault:
	mov	(%rsp), %edi
	lea	8(%rsp), %rdx
	mov	$ERROR_CODES, %eax
	bt	%edi, %eax
	jnc	1f
	add	$8, %rdx
1:	mov	(%rdx), %rsi			/* rip */
	cmp	$13, %edi
	jne	2f
	lea	-safe_first(%rsi), %rax
	cmp	$safe_last - safe_first, %rax
	jbe	3f
2:	mov	%rsp, %rdx
	and	$-16, %rsp
	call	monitor_fault
3:	movq	$safe_faulted, (%rdx)
	mov	%rdx, %rsp
	iretq

	.section .rodata
	.balign	16
	.globl	gdt, gdt_pointer
gdt:	.quad	0, 0
	.quad	0x00af9b000000ffff		/* 0x10: 64-bit code */
	.quad	0x00cf93000000ffff		/* 0x18: data */
gdt_pointer:
	.word	. - gdt - 1
	.quad	gdt
	.section .note.GNU-stack, "", @progbits
