/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The parts of the port to x86-64 on the inmates' library. */
#ifndef ERIKA_X86_H
#define ERIKA_X86_H

#include <stdbool.h>
#include <stdint.h>
#include <erika/conf.h>
#include <inmate/trap.h>
#include <qv/end.h>

/* Unmaps the page below each stack. Returns false if the image is too large for that. */
bool guard_stacks(void);

/* Stores the stack pointer in `*save`, and calls `entry` on the empty stack that ends at `top`. */
void os_stack_begin(uint64_t *save, uint8_t *top, void (*entry)(void));

/*
 * Lets the device of an ISR request its interrupts, by `*vector`. In a cell, sets `*vector` to that
 * of the pin. Returns NULL, or why this is not possible.
 */
const char *device_route(const struct os_isr_conf *isr, uint8_t *vector);

/* The same for the bell of a channel, which only a cell has. */
const char *bell_route(const struct os_isr_conf *isr, uint8_t *vector);

/* Returns the number of the window of a channel at run time; -1: it is none. */
int key_window(const struct qv_end *channel);

/* Stops interrupts and memory accesses of the PCI functions that ISRs serve. */
void device_end(void);

/* Disables caching of the 2 MiB around a device's page. */
void guard_map_uncached(uint64_t page);

/* Returns the name of the task whose guard page contains `address`; NULL: none. */
const char *guard_owner(uint64_t address);

/* Installs the handler of exceptions: prints what failed, and shuts the kernel down. */
void fault_catch(void);

/* Prints a sentence and stops this CPU. */
_Noreturn void fault_stop(const char *why);

/* Sets the TSC's frequency, and whether the APIC timer compares the TSC itself. */
void hwclock_set(uint32_t tsc_khz, bool tsc_deadline);

/*
 * Sets the functions of the console, which interrupts call with interrupts off: `keys` when Linux
 * has news, `beat` at each heartbeat.
 */
void entry_set_console(void (*keys)(void), void (*beat)(void));

/*
 * Sets the handler of a vector that runs an ISR of category 2 and acknowledges the interrupt
 * itself. If the application uses registers of floating point, the interrupted code keeps them.
 */
void entry_set_isr2(uint8_t vector, trap_handler *handler);

/* From now on an interrupt only wakes the CPU: no code of the application runs. */
void entry_end(void);

/* Sets a function that os_port_stop() calls before it prints the status. */
void port_at_end(void (*act)(void));

/*
 * Sets a function that os_port_stop() calls at the end, on the stack of interrupts. It does not
 * return.
 */
void port_after_end(void (*act)(const void *));

/* Prepares the APIC timer. In a cell, requests its interrupts for the heartbeat. */
void hwclock_start(uint8_t vector);

/* The timer's interrupt has come. Requests the next one. Returns whether the heartbeat is due. */
bool hwclock_fired(void);

#endif
