/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupt vectors of Quest's own choice; the doorbell's comes from the info page. */
#ifndef QUEST_VECTORS_H
#define QUEST_VECTORS_H

#define VECTOR_PS2	0x41
#define VECTOR_SERIAL	0x44
#define VECTOR_TIMER	0xE0
#define VECTOR_TIMER_2	0xE1		/* when the doorbell has 0xE0 */

#endif
