/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every form of instruction that writes 32 bits to a device page, and some other instructions. The
 * test assembles them, disassembles them by objdump, and gives them to the decoder. Sections: i16,
 * i32, i64, each for code of that size.
 */
	.macro	all reg, mem:vararg
	mov	%\reg, \mem
	xchg	%\reg, \mem
	or	%\reg, \mem
	and	%\reg, \mem
	lock or	%\reg, \mem
	add	%\reg, \mem
	mov	\mem, %\reg
	.endm

	.macro	constants mem:vararg
	movl	$0x12345678, \mem
	movl	$-1, \mem
	orl	$0x100, \mem
	orl	$-128, \mem
	orl	$127, \mem
	andl	$0xfffeffff, \mem
	andl	$-2, \mem
	andl	$128, \mem
	addl	$5, \mem
	xorl	$5, \mem
	movw	$5, \mem
	movb	$5, \mem
	.endm

	.macro	shapes mem:vararg
	.irp	reg, eax, ecx, edx, ebx, esp, ebp, esi, edi
	all	\reg, \mem
	.endr
	all	ax, \mem
	constants \mem
	.endm

	.section i64, "ax"
	.code64
	.macro	shapes64 mem:vararg
	shapes	\mem
	.irp	reg, r8d, r9d, r10d, r11d, r12d, r13d, r14d, r15d, rax, r15, r8w
	all	\reg, \mem
	.endr
	movq	$5, \mem
	.endm

	.irp	base, rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r11, r12, r13, r15, eax, esp, r13d
	shapes64 (%\base)
	shapes64 0x30(%\base)
	shapes64 -0x80(%\base)
	shapes64 0x300(%\base)
	shapes64 -0xa00d00(%\base)
	.endr
	.irp	index, rax, rbp, r12, r13
	shapes64 (%rbx, %\index, 1)
	shapes64 (%r13, %\index, 2)
	shapes64 0x10(%rbp, %\index, 4)
	shapes64 0x300(%rsp, %\index, 8)
	shapes64 0x300(, %\index, 8)
	.endr
	shapes64 0x20(%rip)
	shapes64 -0x2000(%eip)
	shapes64 0x7ee00300
	shapes64 %gs:0x300
	shapes64 %fs:8(%rax)
	movabs	%eax, 0x1122334455667788
	movabs	%rax, 0x1122334455667788
	movabs	%ax, 0x1122334455667788
	movabs	%al, 0x1122334455667788
	movabs	%eax, %gs:0x1122334455667788
	addr32 movabs %eax, 0x11223344
	movabs	0x1122334455667788, %eax
	movnti	%eax, (%rdi)
	stosl
	rep stosl
	movd	%xmm0, (%rdi)
	push	(%rax)
	pop	(%rax)
	incl	(%rax)
	notl	(%rax)
	btsl	$3, (%rax)
	cmpxchg	%ecx, (%rax)
	xadd	%ecx, (%rax)

	.section i32, "ax"
	.code32
	.irp	base, eax, ecx, edx, ebx, esp, ebp, esi, edi
	shapes	(%\base)
	shapes	0x30(%\base)
	shapes	-0x80(%\base)
	shapes	0x300(%\base)
	shapes	0xfee00300(%\base)
	.endr
	.irp	index, eax, ebp, edi
	shapes	(%ebx, %\index, 1)
	shapes	(%ebp, %\index, 2)
	shapes	0x300(%esp, %\index, 8)
	shapes	0x300(, %\index, 4)
	.endr
	.irp	base, bx, si, di, bp
	shapes	(%\base)
	shapes	0x30(%\base)
	shapes	0x300(%\base)
	.endr
	shapes	(%bx, %si)
	shapes	0x12(%bp, %di)
	shapes	0x300(%bp, %si)
	shapes	0xfee000b0
	shapes	%fs:0x300
	addr16 mov %eax, 0x300
	addr16 mov %ecx, 0x300
	incl	(%eax)
	notl	(%eax)

	.section i16, "ax"
	.code16
	.irp	base, bx, si, di, bp
	shapes	(%\base)
	shapes	0x30(%\base)
	shapes	-0x80(%\base)
	shapes	0x300(%\base)
	.endr
	shapes	(%bx, %si)
	shapes	(%bx, %di)
	shapes	0x12(%bp, %di)
	shapes	0x300(%bp, %si)
	shapes	0x300
	shapes	%es:0x300
	.irp	base, eax, esp, ebp, edi
	shapes	(%\base)
	shapes	0x30(%\base)
	shapes	0xfee00300(%\base)
	shapes	(%\base, %ebx, 1)
	.endr
	.section .note.GNU-stack, "", @progbits
