/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SYSCALL: RIP in RCX, RFLAGS in R11, interrupts off by SFMASK, RSP still the
 * program's. Until there is a stack nothing is pushed, and what may come here
 * all the same (NMI, machine check) has stacks of its own. The frame becomes
 * what an interrupt would leave (struct trap_frame), so that fork, exec and
 * kill need not know how the program came in.
 */
#include <inmate/frame.S>

#define USER_SS		0x1B		/* TRAP_USER_SS */
#define USER_CS		0x23		/* TRAP_USER_CS */
#define SYSCALL_VECTOR	0x100

	.text
	.globl	syscall_entry
	.type	syscall_entry, @function
syscall_entry:
	movq	%rsp, syscall_user_stack(%rip)
	movq	syscall_kernel_stack(%rip), %rsp
	pushq	$USER_SS
	pushq	syscall_user_stack(%rip)
	pushq	%r11
	pushq	$USER_CS
	pushq	%rcx
	pushq	$0
	pushq	$SYSCALL_VECTOR
	push_registers
	movq	%rsp, %rdi
	call	syscall_dispatch
	testb	%al, %al
	jz	trap_return		/* not where SYSRET can go: IRETQ */
	pop_registers
	movq	16(%rsp), %rcx		/* rip: syscall_dispatch() has seen that it is a program's */
	movq	32(%rsp), %r11		/* rflags */
	movq	40(%rsp), %rsp
	sysretq
	.size	syscall_entry, . - syscall_entry

	.section .note.GNU-stack, "", @progbits
