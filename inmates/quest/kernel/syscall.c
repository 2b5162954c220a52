// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "../arch/user.h"
#include "dispatch.h"
#include "process/exit.h"
#include "syscall.h"

static const struct {
	syscall_handler *handler;
	unsigned int args;
} calls[] = {
#define SYSCALL_ENTRY(number, name, args) [number] = { sys_##name, args },
	QUEST_CALLS(SYSCALL_ENTRY)
#undef SYSCALL_ENTRY
};

#define SYSCALL_LENGTH	2

#define NUM_CALLS	(sizeof(calls) / sizeof(calls[0]))

static long carry_out(struct trap_frame *f)
{
	struct call c = { .frame = f, .process = process_current() };
	const uint64_t given[SYSCALL_ARGS] = { f->rdi, f->rsi, f->rdx };
	uint64_t number = f->rax;
	unsigned int i;

	if (number >= NUM_CALLS || !calls[number].handler)
		return -ENOSYS;
	for (i = 0; i < calls[number].args; i++)
		c.arg[i] = given[i];
	return calls[number].handler(&c);
}

/*
 * SYSRET may only return to an address of the program, since such an address is canonical. All
 * other returns use IRETQ.
 */
static bool sysret_can(const struct trap_frame *f)
{
	return f->vector == SYSCALL_VECTOR && f->rip >= USER_BASE && f->rip < USER_END &&
	       !(f->rflags & RFLAGS_TRAP);
}

bool syscall_dispatch(struct trap_frame *f)
{
	long answer = carry_out(f);

	if (answer == -ERESTART)		/* RAX still holds the number of the call */
		f->rip -= SYSCALL_LENGTH;
	/* with another vector, exec() has filled in the frame for the new program */
	else if (f->vector == SYSCALL_VECTOR)
		f->rax = (uint64_t)answer;
	thread_current()->restart.again = answer == -ERESTART;
	dispatch_check();
	process_leave(f);
	return sysret_can(f);
}
