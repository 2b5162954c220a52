/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUEST_FAULT_H
#define QUEST_FAULT_H

#include <inmate/trap.h>

/*
 * Handles an exception in ring 3: prints its kind and address, and ends the program. All other
 * programs continue.
 */
_Noreturn void fault_of_program(struct trap_frame *frame);

#endif
