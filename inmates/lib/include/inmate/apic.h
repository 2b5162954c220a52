/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The CPU's own interrupt controller: AMD64 manual volume 2, chapter 16; Intel SDM volume 3,
 * chapter 11.
 */
#ifndef INMATE_APIC_H
#define INMATE_APIC_H

#include <stdbool.h>
#include <stdint.h>

#define APIC_PAGE		0xFEE00000ull
#define APIC_SPURIOUS_VECTOR	0xFF

/* Register offsets in the page; x2APIC numbers are offset / 16. */
#define APIC_ID			0x020
#define APIC_VERSION		0x030
#define APIC_TPR		0x080
#define APIC_EOI		0x0B0
#define APIC_SVR		0x0F0
#define APIC_LVT_TIMER		0x320
#define APIC_LVT_THERMAL	0x330
#define APIC_LVT_PERF		0x340
#define APIC_LVT_LINT0		0x350
#define APIC_LVT_LINT1		0x360
#define APIC_LVT_ERROR		0x370
#define APIC_TIMER_INITIAL	0x380
#define APIC_TIMER_CURRENT	0x390
#define APIC_TIMER_DIVIDE	0x3E0

#define APIC_LVT_MASKED		(1u << 16)

/*
 * Enables the APIC with all local interrupts masked and priority 0. `x2apic` selects how it is
 * accessed: true: by MSRs; false: by the page, which must be mapped uncached.
 */
void apic_init(bool x2apic);

/*
 * Switches this CPU to x2APIC mode if the CPU supports it. Do not call it in a cell. Returns true
 * if the CPU is in x2APIC mode now.
 */
bool apic_try_x2apic(bool offered);

uint32_t apic_read(uint32_t reg);
void apic_write(uint32_t reg, uint32_t value);
bool apic_is_x2apic(void);
uint32_t apic_id(void);

/* Signals the end of interrupt. Does nothing before apic_init(). */
void apic_eoi(void);

#endif
