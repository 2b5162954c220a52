/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The devices of a bare PC, for an inmate that runs alone (the native
 * baseline). Call none of these functions in a cell: each port access and each
 * IOAPIC access would stop the cell.
 */
#ifndef INMATE_PC_H
#define INMATE_PC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IOAPIC_PAGE	0xFEC00000ull

/* 8259: moves its vectors away from the exceptions and masks everything. */
void pic_disable(void);

/* Returns the TSC frequency in kHz, measured against PIT channel 2 (takes 60 ms). */
uint32_t pit_measure_tsc_khz(void);

/*
 * IOAPIC: mask all pins; route one (edge, active high) to `vector` on CPU `apic_id`. The page must
 * be mapped uncached.
 */
void ioapic_init(void);
void ioapic_route(unsigned int pin, unsigned int vector, uint32_t apic_id);

/* Masks or unmasks a pin. An edge that comes while the pin is masked is lost. Interrupts off. */
void ioapic_mask(unsigned int pin, bool masked);

/* 16550 at 0x3F8 (IRQ 4), 115200 8n1. Without a chip, writes are dropped and reads return -1. */
#define SERIAL_IRQ	4
void serial_init(void);
void serial_write(const char *text, size_t n);
int serial_read(void);

/*
 * Enables the interrupt for received bytes. From then on serial_write() only queues. At most a
 * FIFO's worth (16 bytes) at a time goes to the chip with interrupts off: by serial_write() if the
 * chip has sent everything, otherwise by serial_pump(), which the interrupt handler calls. The
 * handler must continue until nothing is pending, since the interrupt is edge-triggered.
 */
void serial_enable_irq(void);
void serial_pump(void);
bool serial_pending(void);

/*
 * Returns true if serial_write() has room for so many bytes. If it has none, it waits for the chip.
 */
bool serial_fits(size_t n);

/*
 * serial_flush() waits until the chip has got all queued bytes. serial_poll() also ends the
 * queueing (after a crash).
 */
void serial_flush(void);
void serial_poll(void);

/*
 * PS/2 keyboard (IRQ 1), US layout. Puts up to 3 bytes into `bytes`, as a terminal would send them.
 * Returns how many; -1: there is no scan code.
 */
#define PS2_IRQ		1
void ps2_init(void);
int ps2_read(uint8_t bytes[3]);

/* Hardware cursor of the text screen: row * 80 + column. */
void vga_set_cursor(uint32_t cursor);

#endif
