/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_CALLS_H
#define QV_CALLS_H

#include "core/instance.h"

/* Carries out @nr (enum qv_hypercall) with argument @a. Returns a value, or enum qv_mon_error */
u64 hypercall(struct pcpu *cpu, u64 nr, u64 a);

/*
 * After an NMI: answers requests of cells (posts.c). Returns true if the NMI may have been for
 * them, and not Linux's own.
 */
bool posts_nmi(struct pcpu *cpu);

#endif
