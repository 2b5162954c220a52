/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Exceptions and interrupts: AMD64 manual volume 2, chapter 8. */
#ifndef INMATE_TRAP_H
#define INMATE_TRAP_H

#include <stdbool.h>
#include <stdint.h>

#define TRAP_FIRST_IRQ		32
#define TRAP_NUM_VECTORS	256

/* Selectors of ring 3, in the order that SYSRET wants (STAR[63:48] + 8 and + 16). */
#define TRAP_USER_SS		(0x18 | 3)
#define TRAP_USER_CS		(0x20 | 3)
#define TRAP_KERNEL_CS		0x08

/* What trap_entry.S leaves on the stack. */
struct trap_frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
	uint64_t rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t vector, error;
	uint64_t rip, cs, rflags, rsp, ss;
};

typedef void trap_handler(struct trap_frame *frame);

/* Did ring 3 run when this came? */
static inline bool trap_from_user(const struct trap_frame *frame)
{
	return frame->cs & 3;
}

/* Load GDT, TSS and IDT of the booting CPU. Interrupts stay off. */
void trap_init(void);

/* Route interrupt `vector` (32..255) to `handler`, called with interrupts off; EOI is done by the caller. */
void trap_set_irq(unsigned int vector, trap_handler *handler);

/* Called for every exception (0..31); a return continues the program. */
void trap_set_exception(trap_handler *handler);

/* Called after each interrupt's EOI, last thing before the return: the place to preempt. */
void trap_set_exit(trap_handler *hook);

/* Where the stack begins on which ring 3's interrupts and exceptions arrive (a multiple of 16). */
void trap_set_kernel_stack(uint64_t top);

/* Interrupts that came with no handler set. */
uint64_t trap_stray_count(void);

/* AMD64 name of exception `vector`, such as "#PF page fault". */
const char *trap_name(uint64_t vector);

/* For trap_entry.S. */
void trap_dispatch(struct trap_frame *frame);

#endif
