/* SPDX-License-Identifier: GPL-2.0-only */
/* The interrupt vectors that Quest chooses. The doorbell's vector comes from the info page. */
#ifndef QUEST_VECTORS_H
#define QUEST_VECTORS_H

#define VECTOR_PS2	0x41
#define VECTOR_SERIAL	0x44
/* the network function has this vector, or the next vector that the info page does not name */
#define VECTOR_NIC	0x60
/* the only vector in the highest class: CR8 never blocks it */
#define VECTOR_TIMER	0xF0

#endif
