/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * More CPU time for each program that comes, for measurements (dissertation, section 4.6.2). Only
 * the image for tests has it, and there only with a word of the command line
 * (inmates/tests/image/delay.c). The shipped image links nodelay.c.
 */
#ifndef QUEST_MIGRATION_DELAY_H
#define QUEST_MIGRATION_DELAY_H

#include <stdint.h>

/* Returns that time in cycles; takes it, with interrupts on. */
uint64_t mig_delay(void);
void mig_delay_take(void);

#endif
