/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One-shot interrupts at a TSC value. All times are TSC cycles; 64 bits suffice
 * for more than a century.
 */
#ifndef INMATE_TIMER_H
#define INMATE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#define TIMER_NEVER	UINT64_MAX

/*
 * Sets up the APIC timer on `vector`, with nothing armed. With `deadline` the CPU
 * compares the TSC itself (CPUID.1:ECX[24]). Without it, the APIC's counter is
 * first measured against the TSC, which takes 15 ms.
 */
void timer_init(unsigned int vector, uint32_t tsc_khz, bool deadline);

/*
 * Arms an interrupt for when the TSC reaches `at`. If `at` has passed, the interrupt comes at once.
 * TIMER_NEVER disarms the timer. `now` is a recent reading of the TSC. In counter mode the
 * interrupt may come early, so the handler must read the clock and arm again. There are two
 * reasons. First, the counter has only 32 bits. Second, in xAPIC mode a write costs a cell an exit,
 * so an earlier time stays armed unless it is near.
 */
void timer_arm(uint64_t at, uint64_t now);

/* Call it when the interrupt has come. After it, no time is armed. */
void timer_fired(void);

/* Returns "TSC deadline" or "one-shot". */
const char *timer_mode(void);

/* Returns the frequency of the APIC timer's counter in kHz; 0 in deadline mode. */
uint32_t timer_khz(void);

uint64_t timer_from_us(uint64_t us);
uint64_t timer_to_us(uint64_t cycles);
uint64_t timer_from_ns(uint64_t ns);
uint64_t timer_to_ns(uint64_t cycles);

#endif
