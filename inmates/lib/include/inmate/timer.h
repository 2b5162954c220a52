/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One-shot interrupts at a TSC value. All times are TSC cycles; 64 bits last
 * for more than a century.
 */
#ifndef INMATE_TIMER_H
#define INMATE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#define TIMER_NEVER	UINT64_MAX

/*
 * Set the APIC timer up on `vector`, nothing armed. With `deadline` the CPU
 * compares the TSC itself (CPUID.1:ECX[24]); without, the APIC's counter is
 * measured against the TSC first, which takes 15 ms.
 */
void timer_init(unsigned int vector, uint32_t tsc_khz, bool deadline);

/*
 * Interrupt when the TSC reaches `at`; a time gone by interrupts at once;
 * TIMER_NEVER disarms. `now` is the TSC, as read lately. The counter mode may
 * interrupt early (it counts 32 bits, and through the APIC's page, where a write
 * costs a cell an exit, an earlier time that is not near stays armed): the
 * handler looks at the clock, and arms again.
 */
void timer_arm(uint64_t at, uint64_t now);

/* The interrupt came: nothing is armed any more. */
void timer_fired(void);

/* "TSC deadline" or "one-shot". */
const char *timer_mode(void);

/* Counter mode: its frequency in kHz; 0 in deadline mode. */
uint32_t timer_khz(void);

uint32_t timer_tsc_khz(void);
uint64_t timer_from_us(uint64_t us);
uint64_t timer_to_us(uint64_t cycles);
uint64_t timer_from_ns(uint64_t ns);
uint64_t timer_to_ns(uint64_t cycles);

#endif
