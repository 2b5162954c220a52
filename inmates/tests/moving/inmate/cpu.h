/* SPDX-License-Identifier: GPL-2.0-only */
/* In place of the header of that name: the instructions that a program on the host cannot use. */
#ifndef MOVING_INMATE_CPU_H
#define MOVING_INMATE_CPU_H

#define rdtsc		real_rdtsc
#define irq_disable	real_irq_disable
#define irq_enable	real_irq_enable
#define irq_enabled	real_irq_enabled
#define irq_save	real_irq_save
#define irq_restore	real_irq_restore
#include_next <inmate/cpu.h>
#undef rdtsc
#undef irq_disable
#undef irq_enable
#undef irq_enabled
#undef irq_save
#undef irq_restore

/* Returns the clock of the world, which each call advances. */
uint64_t rdtsc(void);

/* Interrupts are on: other threads run. */
void irq_enable(void);

static inline void irq_disable(void)
{
}

static inline bool irq_enabled(void)
{
	return false;
}

static inline bool irq_save(void)
{
	return false;
}

static inline void irq_restore(bool enable)
{
	(void)enable;
}

#endif
