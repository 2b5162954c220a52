/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The system calls, each under the name quest_NAME(). A call that POSIX does not name, or that
 * cannot fail, also has the name NAME().
 */
#include <quest/calls.h>

	.text
	.globl	quest_syscall
	.type	quest_syscall, @function
quest_syscall:
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	syscall
	ret
	.size	quest_syscall, . - quest_syscall

	.macro	quest_call name, number
	.section .text.quest_\name, "ax"
	.globl	quest_\name
	.type	quest_\name, @function
quest_\name:
	movl	$\number, %eax
	syscall
	ret
	.size	quest_\name, . - quest_\name
	.endm

#define CALL(number, name, args) quest_call name, number ;
QUEST_CALLS(CALL)

	/* The names NAME() are for programs; the library itself uses quest_NAME(). */
	.macro	own_name names:vararg
	.irp	name, \names
	.globl	\name
	.set	\name, quest_\name
	.endr
	.endm

	own_name _exit, getpid, pthread_self
	own_name vcpu_create, vcpu_create_main, vcpu_bind_task, vcpu_destroy, vcpu_current
	own_name vcpu_getparams, vcpu_setparams, vcpu_fork, exec, meminfo
	own_name vcpu_migration_status, vcpu_migration_dest
	own_name wait_word, wait_word_until, wake_words, lock_word, unlock_word
	own_name recovery_beat, recovery_save, recovery_resume, recovery_vote
	own_name driver_open, driver_wait, latency_count
	own_name shared_mem_alloc, shared_mem_attach, shared_mem_detach, shared_mem_free

	.section .note.GNU-stack, "", @progbits
