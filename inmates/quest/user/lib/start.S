/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Start of a program and of a thread; the system calls. */
#include <quest/calls.h>

	.text
	.globl	_start
	.type	_start, @function
_start:
	xorl	%ebp, %ebp
	call	main			/* argc and argv are where main() wants them; RSP is aligned */
	movl	%eax, %edi
	call	exit
	ud2
	.size	_start, . - _start

/* thread_begin(fn, arg): where pthread_create() has a thread start */
	.globl	thread_begin
	.type	thread_begin, @function
thread_begin:
	movq	%rdi, %rax
	movq	%rsi, %rdi
	pushq	%rbp			/* RSP was as after a call: now it is aligned */
	call	*%rax
	movq	%rax, %rdi
	call	pthread_exit
	ud2
	.size	thread_begin, . - thread_begin

/* long syscall(long number, long a, long b, long c) */
	.globl	syscall
	.type	syscall, @function
syscall:
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	syscall
	ret
	.size	syscall, . - syscall

	.macro	quest_call name, number
	.section .text.\name, "ax"
	.globl	\name
	.type	\name, @function
\name:
	movl	$\number, %eax
	syscall
	ret
	.size	\name, . - \name
	.endm

#define CALL(number, name, args) quest_call name, number ;
QUEST_CALLS(CALL)

	.section .note.GNU-stack, "", @progbits
