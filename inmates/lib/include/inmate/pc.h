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
void serial_enable_irq(void);
int serial_read(void);

/* PS/2 keyboard (IRQ 1), US layout. Puts up to 3 bytes, as a terminal would send, into `bytes`; returns how many, -1: no scan code there. */
#define PS2_IRQ		1
void ps2_init(void);
int ps2_read(uint8_t bytes[3]);

/* Hardware cursor of the text screen: row * 80 + column. */
void vga_set_cursor(uint32_t cursor);

#endif
