/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The devices of a bare PC, for an inmate that runs alone (the native
 * baseline). In a cell none of this may be called: each port access and each
 * IOAPIC access would stop the cell.
 */
#ifndef INMATE_PC_H
#define INMATE_PC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IOAPIC_PAGE	0xFEC00000ull

/* 8259: remap away from the exceptions and mask everything. */
void pic_disable(void);

/* TSC frequency in kHz, measured against PIT channel 2 (takes 60 ms). */
uint32_t pit_measure_tsc_khz(void);

/* IOAPIC: mask all pins; route one (edge, active high) to `vector` on CPU `apic_id`. The page must be mapped uncached. */
void ioapic_init(void);
void ioapic_route(unsigned int pin, unsigned int vector, uint32_t apic_id);

/* Masked, the pin raises nothing; an edge meanwhile is lost. Interrupts off. */
void ioapic_mask(unsigned int pin, bool masked);

/* 16550 at 0x3F8 (IRQ 4), 115200 8n1. Without one, writes go nowhere and reads give -1. */
#define SERIAL_IRQ	4
void serial_init(void);
void serial_write(const char *text, size_t n);
int serial_read(void);

/*
 * Interrupts when a byte has come. From then on serial_write() only queues, and the chip is given
 * no more than a FIFO's worth (16 bytes) at a time with interrupts off: by serial_write() if the
 * chip has sent all, else by serial_pump(), which the interrupt's handler calls. That handler goes
 * on until nothing is pending, for the interrupt is an edge.
 */
void serial_enable_irq(void);
void serial_pump(void);
bool serial_pending(void);

/* Would serial_write() have room for so many bytes? If not, it waits for the chip. */
bool serial_fits(size_t n);

/* Wait until all that is queued is given to the chip; serial_poll(): and queue nothing any more (a crash). */
void serial_flush(void);
void serial_poll(void);

/* PS/2 keyboard (IRQ 1), US layout. Puts up to 3 bytes, as a terminal would send, into `bytes`; returns how many, -1: no scan code there. */
#define PS2_IRQ		1
void ps2_init(void);
int ps2_read(uint8_t bytes[3]);

/* Hardware cursor of the text screen: row * 80 + column. */
void vga_set_cursor(uint32_t cursor);

#endif
