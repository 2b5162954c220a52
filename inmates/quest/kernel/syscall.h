/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls: a table of names, handlers and argument counts (syscall.c). A handler runs with
 * interrupts off, on the caller's own kernel stack. It copies data of the program once, and then
 * checks the copy. It returns the value for RAX. Minus a number of errors.h means that the call did
 * nothing.
 */
#ifndef QUEST_SYSCALL_H
#define QUEST_SYSCALL_H

#include <stdbool.h>
#include <stdint.h>
#include <inmate/trap.h>
#include "../user/include/quest/errors.h"
#include "process/process.h"

#define SYSCALL_ARGS	3

struct call {
	struct trap_frame *frame;
	struct process *process;
	uint64_t arg[SYSCALL_ARGS];
};

/*
 * Returns argument `n` of a call that takes an int: the ABI leaves the register's upper half
 * undefined.
 */
static inline int call_int(const struct call *c, unsigned int n)
{
	return (int)c->arg[n];
}

typedef long syscall_handler(struct call *c);

/* One handler for each line of user/include/quest/calls.h. */
#define SYSCALL_DECLARE(number, name, args) syscall_handler sys_##name;
#include "../user/include/quest/calls.h"
QUEST_CALLS(SYSCALL_DECLARE)
#undef SYSCALL_DECLARE

/*
 * The address at which SYSCALL enters the kernel (arch/syscall_entry.S). The code there builds a
 * frame and calls syscall_dispatch().
 */
void syscall_entry(void);

/* Carries out the call in `frame`. Returns true if SYSRET may go back to the program. */
bool syscall_dispatch(struct trap_frame *frame);

#endif
