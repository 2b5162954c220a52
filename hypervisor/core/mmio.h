/* SPDX-License-Identifier: GPL-2.0-only */
/* The instruction that touched a device page. */
#ifndef QV_MMIO_H
#define QV_MMIO_H

#include "decode.h"

struct pcpu;

/* Returns false for an unknown instruction */
bool mmio_decode(struct pcpu *cpu, struct decoded *d);

#endif
