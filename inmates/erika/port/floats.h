/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef ERIKA_FLOATS_H
#define ERIKA_FLOATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <erika/conf.h>

/* The registers of floating point, as FXSAVE stores them. */
struct floats {
	uint8_t fxsave[512];
} __attribute__((aligned(16)));

extern const bool os_floats __attribute__((weak));	/* most configurations have none */

/* Returns whether the application may use the registers. */
static inline bool floats_used(void)
{
	return &os_floats != NULL;
}

/* If the application uses the registers: lets the CPU execute SSE, and gives first values. */
void floats_enable(void);

/* Sets the first values: rounds to nearest, and masks all exceptions. */
static inline void floats_first(void)
{
	const uint32_t mxcsr = 0x1F80;

	__asm__ volatile("fninit; ldmxcsr %0" : : "m"(mxcsr));
}

/* Stores the registers, and gives them their first values. */
void floats_save(struct floats *floats);

void floats_restore(const struct floats *floats);

#endif
