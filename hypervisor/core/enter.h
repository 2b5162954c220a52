/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_ENTER_H
#define QV_ENTER_H

#include "instance.h"

/* C part of the image's entry: a CPU comes from Linux */
void monitor_entry(struct pcpu *cpu) __attribute__((noreturn));

#endif
