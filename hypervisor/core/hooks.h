/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_HOOKS_H
#define QV_HOOKS_H

#include "instance.h"

/*
 * For tests: makes a fault in the monitor. rdi of the guest is QV_FAULT_*, rsi an address. Returns
 * false if the hooks are off.
 */
bool test_fault(const struct pcpu *cpu);

#endif
