/* SPDX-License-Identifier: GPL-2.0-only */
/* The start of an instance: enter.c takes CPUs from Linux, init.c fills the instance. */
#ifndef QV_INIT_H
#define QV_INIT_H

#include "instance.h"

/* C part of the image's entry: a CPU comes from Linux */
void monitor_entry(struct pcpu *cpu) __attribute__((noreturn));
/*
 * Fills the CPUs' areas, the permission maps and the parking page of @inst. Its creator has filled
 * @inst->boot, calls this, and has its block mapped at @va. Returns 0 or enum qv_mon_error.
 */
u64 guest_init(struct instance *inst, u64 va);
void clear_registers(void);	/* regs.c: registers that an entry into a guest does not switch */

#endif
