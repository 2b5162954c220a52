/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUEST_MIGRATION_BUILD_H
#define QUEST_MIGRATION_BUILD_H

#include <stdint.h>

/*
 * Returns a number that differs between two builds of Quest: a hash of the kernel's code, in which
 * the addresses of its data are constants.
 */
uint64_t mig_build(void);

#endif
