/* SPDX-License-Identifier: GPL-2.0-only */
/* Exits that are handled alike for a cell and for Linux: both columns of the exit table name them. */
#ifndef QV_EXITS_H
#define QV_EXITS_H

#include "instance.h"

void exit_forbidden(struct pcpu *cpu);	/* the vendor's own instructions: #UD, as on a processor without them */
void exit_nothing(struct pcpu *cpu);	/* an instruction of 2 bytes that has no effect */
void exit_init(struct pcpu *cpu);	/* an INIT signal from outside: ignored */
void exit_nmi(struct pcpu *cpu);	/* nmi.c: a command of the monitor's, or the guest's own NMI */

#endif
