/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Descriptor tables. AMD64 manual volume 2, chapter 4. */
#ifndef INMATE_DESC_H
#define INMATE_DESC_H

#include <stdint.h>

#define SEL_KERNEL_CODE	0x08
#define SEL_KERNEL_DATA	0x10
#define SEL_TSS		0x28	/* 0x18 and 0x20 are user data and user code */

/* Loads the final GDT and the TSS with its emergency stacks. */
void desc_load(void);

/* Makes `vector` enter at `entry`, with interrupts off. */
void desc_set_gate(unsigned int vector, const void *entry);

void desc_load_idt(void);

/* Sets the stack for traps from ring 3. */
void desc_set_rsp0(uint64_t top);

#endif
