/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Switches between kernel stacks. While a thread does not run, its registers are a struct context
 * on its stack.
 */
#ifndef INMATE_CONTEXT_H
#define INMATE_CONTEXT_H

#include <stdint.h>

/* The registers that switch_context() pops, lowest address first. */
struct context {
	uint64_t r15, r14, r13, r12, rbx, rbp, rip;
};

/* Stores the stack pointer in `*save` and continues on stack `load`. Interrupts are off. */
void switch_context(uint64_t *save, uint64_t load);

/* The return address of a new thread's context: calls r14(r12, r13), which does not return. */
void first_return(void);

#endif
