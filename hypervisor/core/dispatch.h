/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exits: the vendor's table says what each of its codes comes to; what that is, is the
 * same on both. svm/exits.c, vmx/exits.c.
 */
#ifndef QV_DISPATCH_H
#define QV_DISPATCH_H

#include "cpu.h"

#define SELF_COUNTED	QV_EXIT_SLOTS

struct exit_row {
	u64 code;		/* as vendor_exit_code() gives it */
	void (*handle)(struct pcpu *cpu);
	u32 reason;		/* enum qv_exit, or SELF_COUNTED */
};
extern const struct exit_row vendor_exits[];
extern const u32 vendor_num_exits;

/* Count, handle, account for the time. regs[] is complete; an exit without a row: exit_unknown() */
void exit_dispatch(struct pcpu *cpu, u64 code);

/* What rows name, beside the handlers of cpu.h */
void exit_unknown(struct pcpu *cpu);	/* a cell fails; Linux gets #UD */
void exit_forbidden(struct pcpu *cpu);	/* the vendor's own instructions: #UD, as on a processor without them */
void exit_nothing(struct pcpu *cpu);	/* an instruction of 2 bytes without its effect */
void exit_shutdown(struct pcpu *cpu);	/* triple fault in a cell */
void exit_invalid(struct pcpu *cpu);	/* the processor refuses this guest state */
void exit_init(struct pcpu *cpu);	/* an INIT signal from outside */
void exit_check(struct pcpu *cpu);	/* a machine check of a cell, or of a parked CPU */

/* traps.S: a fault in the monitor; @stack: an address in the CPU's area */
void monitor_fault(u64 vector, u64 rip, u64 stack) __attribute__((noreturn));

#endif
