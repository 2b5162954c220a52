// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/trap.h>
#include "../mm/kstack.h"
#include "exception.h"
#include "fault.h"
#include "panic.h"
#include "threadslot.h"

static int dumping;

/* Programs do not cause NMI, double fault and machine check. Each has its own stack. */
static bool is_emergency(uint64_t vector)
{
	return vector == 2 || vector == 8 || vector == 18;
}

/*
 * A page fault cannot be reported on an exhausted stack. It becomes a double fault, which has its
 * own stack.
 */
static void explain_stack(const struct trap_frame *f)
{
	const struct thread *t = f->vector == 8 || f->vector == 14 ?
				 threadslot_guarded(read_cr2()) : NULL;

	if (t)
		print("thread %d (%s) has exhausted its kernel stack of %llu KiB: "
		      "what it called goes too deep\n", t->id, t->name, KSTACK_BYTES >> 10);
}

static void exception(struct trap_frame *f)
{
	const struct thread *t = thread_current();

	irq_disable();
	if (trap_from_user(f) && !is_emergency(f->vector))
		fault_of_program(f);
	if (dumping++)
		cpu_stop();
	console_poll();
	print("\n" PANIC_RED "exception %s, error %lx, in thread %d (%s)\n", trap_name(f->vector),
	      f->error, t ? t->id : -1, t ? t->name : "start");
	explain_stack(f);
	trap_print(f);
	panic_stop("exception %s in thread %d (%s)", trap_name(f->vector), t ? t->id : -1,
		   t ? t->name : "start");
}

void exceptions_catch(void)
{
	trap_set_exception(exception);
}
