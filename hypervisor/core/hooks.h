/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_HOOKS_H
#define QV_HOOKS_H

#include "instance.h"

/* For tests: makes a fault in the monitor as the guest's rdi (QV_FAULT_*) and rsi say. False: hooks are off */
bool test_fault(const struct pcpu *cpu);

#endif
