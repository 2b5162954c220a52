/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The functions of the machine that the kernel needs: port/ has those of an inmate. */
#ifndef ERIKA_PORT_H
#define ERIKA_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <erika/types.h>

/* Turns interrupts off; returns whether they were on. */
bool os_port_off(void);
void os_port_on(void);

/* Blocks interrupts of classes up to `class`; 0: none. */
void os_port_mask(unsigned int class);

/* Acknowledges the interrupt that is being served. */
void os_port_acknowledge(void);

/* Requests interrupt `vector` on this CPU. */
void os_port_trigger(uint8_t vector);

/* Stores the stack pointer of this context in `*save` and continues the context `load`. */
void os_port_switch(uint64_t *save, uint64_t load);

/* The same, but calls `entry` on the empty stack that ends at `top`. `entry` does not return. */
void os_port_begin(uint64_t *save, uint8_t *top, void (*entry)(void));

/* Calls `function(argument)` on the stack that ends at `top`, and returns to this one. */
void os_port_call(uint8_t *top, void (*function)(const void *argument), const void *argument);

/* Cycles of a clock that never stops, and its frequency. */
uint64_t os_port_cycles(void);
uint32_t os_port_khz(void);

/* Requests the system timer's interrupt for a time, unless it comes earlier anyway. */
void os_port_arm(uint64_t cycles);

/* Prepares interrupts: the ISRs of os_isr_conf, and os_timer_isr. */
void os_port_start(void);

/*
 * Waits for an interrupt. Called with interrupts off; returns with interrupts off, after the
 * interrupts that came.
 */
void os_port_idle(void);

/* The end, after ShutdownHook(). Does not return. */
_Noreturn void os_port_stop(StatusType error);

#endif
