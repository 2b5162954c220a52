/* SPDX-License-Identifier: GPL-2.0-only */
/* Handlers that are the same for cells and for Linux: BOTH() in the exit table. */
#ifndef QV_EXITS_H
#define QV_EXITS_H

#include "instance.h"

/* Instructions of the vendor's extension: #UD, as on a processor without it */
void exit_forbidden(struct pcpu *cpu);
/* skips an instruction of 2 bytes that has no effect here */
void exit_nothing(struct pcpu *cpu);
void exit_init(struct pcpu *cpu);	/* an INIT signal from outside: ignored */

#endif
