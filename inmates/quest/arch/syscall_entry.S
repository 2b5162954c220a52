/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entry of SYSCALL: RIP is in RCX, RFLAGS in R11, interrupts are off (SFMASK), and RSP still points
 * to the program's stack. Nothing is pushed until there is a kernel stack; NMI and machine check,
 * which may come at any time, have their own stacks. The frame has the layout that an interrupt
 * leaves (struct trap_frame), so that fork, exec and kill need not know how the program entered the
 * kernel.
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
	jz	trap_return		/* SYSRET cannot return to this address: use IRETQ */
	pop_registers
	/* the return address: syscall_dispatch() has checked that it is in the program */
	movq	16(%rsp), %rcx
	movq	32(%rsp), %r11		/* rflags */
	movq	40(%rsp), %rsp
	sysretq
	.size	syscall_entry, . - syscall_entry

	.section .note.GNU-stack, "", @progbits
