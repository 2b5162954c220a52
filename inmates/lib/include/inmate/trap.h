/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Exceptions and interrupts: AMD64 manual volume 2, chapter 8. */
#ifndef INMATE_TRAP_H
#define INMATE_TRAP_H

#include <stdbool.h>
#include <stdint.h>

#define TRAP_FIRST_IRQ		32
#define TRAP_NUM_VECTORS	256

/* Selectors of ring 3, in the order that SYSRET requires: STAR[63:48] + 8, then + 16. */
#define TRAP_USER_SS		(0x18 | 3)
#define TRAP_USER_CS		(0x20 | 3)
#define TRAP_KERNEL_CS		0x08

/* The frame that trap_entry.S builds on the stack. */
struct trap_frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
	uint64_t rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t vector, error;
	uint64_t rip, cs, rflags, rsp, ss;
};

typedef void trap_handler(struct trap_frame *frame);

/* Returns true if the trap came from ring 3. */
static inline bool trap_from_user(const struct trap_frame *frame)
{
	return frame->cs & 3;
}

/* Loads GDT, TSS and IDT of the booting CPU. Interrupts stay off. */
void trap_init(void);

/*
 * Routes interrupt `vector` (32..255) to `handler`, which is called with interrupts off. The caller
 * of the handler signals the end of the interrupt (EOI).
 */
void trap_set_irq(unsigned int vector, trap_handler *handler);

/*
 * The same, but the handler itself signals the end of the interrupt, and the function of
 * trap_set_exit() is not called. The handler may switch to another stack before it returns.
 */
void trap_set_bare_irq(unsigned int vector, trap_handler *handler);

/* Sets the handler of all exceptions (0..31). If it returns, the program continues. */
void trap_set_exception(trap_handler *handler);

/*
 * Sets the function that is called after each interrupt's EOI, directly before the return. It may
 * switch to another thread.
 */
void trap_set_exit(trap_handler *hook);

/* Sets the top of the stack for interrupts and exceptions from ring 3. It is a multiple of 16. */
void trap_set_kernel_stack(uint64_t top);

/* Returns how many interrupts came without a handler. */
uint64_t trap_stray_count(void);

/* Returns the AMD64 name of exception `vector`, such as "#PF page fault". */
const char *trap_name(uint64_t vector);

/* Prints the registers of `frame`, and CR2 and CR3 of this CPU. */
void trap_print(const struct trap_frame *frame);

/* Functions that trap_entry.S calls. */
void trap_dispatch(struct trap_frame *frame);

#endif
