/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exits. The vendor's table (svm/exits.c, vmx/exits.c) has a row for each exit code, with a handler
 * for exits of cells and one for exits of Linux. exit_dispatch() picks the column, so that no
 * handler has to. Only the column of cells counts as code that a cell can reach: scripts/size.
 */
#ifndef QV_DISPATCH_H
#define QV_DISPATCH_H

#include "instance.h"

#define SELF_COUNTED	QV_EXIT_SLOTS

struct exit_row {
	u64 first, last;		/* exit codes, as vendor_exit_code() returns them */
	void (*cell)(struct pcpu *cpu);
	void (*front)(struct pcpu *cpu);
	/* enum qv_exit, or SELF_COUNTED: the handler counts the exit itself */
	u32 reason;
};
#define BOTH(handler)	handler, handler	/* columns */
/* The first row that fits counts. The last row fits every code */
extern const struct exit_row vendor_exits[];

/* Counts the exit, handles it, adds its time to the statistics. regs[] is complete */
void exit_dispatch(struct pcpu *cpu, u64 code);

/* exits.c: handlers that are the same for cells and for Linux */
/* Instructions of the vendor's extension: #UD, as on a processor without it */
void exit_forbidden(struct pcpu *cpu);
/* skips an instruction of 2 bytes that has no effect here */
void exit_nothing(struct pcpu *cpu);
void exit_init(struct pcpu *cpu);	/* an INIT signal from outside: ignored */
/*
 * For tests: makes a fault in the monitor. rdi of the guest is QV_FAULT_*, rsi an address. Returns
 * false if the hooks are off.
 */
bool test_fault(const struct pcpu *cpu);

/* traps.S: a fault in the monitor's own code; @stack: an address in the CPU's area */
void monitor_fault(u64 vector, u64 rip, u64 stack) __attribute__((noreturn));

#endif
