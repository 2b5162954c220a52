/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUEST_FAULT_H
#define QUEST_FAULT_H

#include <inmate/trap.h>

/* An exception in ring 3: reports what and where, and ends the program. All others continue. */
_Noreturn void fault_of_program(struct trap_frame *frame);

#endif
