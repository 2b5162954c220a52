/* SPDX-License-Identifier: GPL-2.0-only */
/* Tells Linux of components and outages, in the recovery block of the cell's window (qv/cell.h). */
#ifndef QUEST_RECOVERY_PUBLISH_H
#define QUEST_RECOVERY_PUBLISH_H

#include <stdint.h>

/*
 * Copies components, detectors and outages to the block; without a cell it does nothing. `bound`:
 * the longest time until a fault is found, in cycles. Interrupts are off.
 */
void recovery_publish(uint64_t bound);

#endif
