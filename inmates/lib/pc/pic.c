// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/pc.h>

#define PIC1_COMMAND	0x20
#define PIC1_DATA	0x21
#define PIC2_COMMAND	0xA0
#define PIC2_DATA	0xA1

#define ICW1_INIT	0x11		/* ICW1: cascade mode, ICW4 follows */
#define ICW4_8086	0x01
/* first vector of the 16 IRQs; only a spurious IRQ 7 or 15 can still come */
#define PIC_VECTORS	0xF0

void pic_disable(void)
{
	outb(PIC1_COMMAND, ICW1_INIT);
	outb(PIC2_COMMAND, ICW1_INIT);
	outb(PIC1_DATA, PIC_VECTORS);
	outb(PIC2_DATA, PIC_VECTORS + 8);
	outb(PIC1_DATA, 1 << 2);	/* ICW3: the slave is on line 2 */
	outb(PIC2_DATA, 2);
	outb(PIC1_DATA, ICW4_8086);
	outb(PIC2_DATA, ICW4_8086);
	outb(PIC1_DATA, 0xFF);
	outb(PIC2_DATA, 0xFF);
}
