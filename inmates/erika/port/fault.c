// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/trap.h>
#include "../kernel/kernel.h"
#include "x86.h"

#define DOUBLE_FAULT	8
#define PAGE_FAULT	14

static int faults;

static const char *who(void)
{
	return os.running ? os_conf_of(os.running)->name : "idle";
}

/* A page fault on an exhausted stack becomes a double fault, which has its own stack. */
static const char *exhausted(const struct trap_frame *frame)
{
	return frame->vector == DOUBLE_FAULT || frame->vector == PAGE_FAULT ?
	       guard_owner(read_cr2()) : NULL;
}

static void exception(struct trap_frame *frame)
{
	const char *owner = exhausted(frame);

	irq_disable();
	if (faults++)
		cpu_stop();
	console_poll();
	if (owner)
		print("\nthe stack of %s is exhausted: give it a larger STACK in the OIL file\n",
		      owner);
	else
		print("\nexception %s, error %lx, in task %s\n", trap_name(frame->vector),
		      frame->error, who());
	trap_print(frame);
	ShutdownOS(owner ? E_OS_STACKFAULT : E_OS_ILLEGAL_ADDRESS);
}

void fault_catch(void)
{
	trap_set_exception(exception);
}

_Noreturn void fault_stop(const char *why)
{
	irq_disable();
	console_poll();
	print("\nerika: %s\n", why);
	cpu_stop();
}
