/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The devices of a bare PC, for an inmate that runs alone (the native baseline). Do not call these
 * functions in a cell: each port access and each IOAPIC access would stop the cell.
 */
#ifndef INMATE_PC_H
#define INMATE_PC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IOAPIC_PAGE	0xFEC00000ull

/* Disables the 8259: moves its vectors away from the exceptions, and masks all its interrupts. */
void pic_disable(void);

/* Returns the TSC frequency in kHz, measured against PIT channel 2 (takes 60 ms). */
uint32_t pit_measure_tsc_khz(void);

/*
 * Functions for the IOAPIC, whose page must be mapped uncached. The first one masks all pins. The
 * second one routes a pin (edge, active high) to `vector` on CPU `apic_id`. The third one does the
 * same for the pin of a PCI function (level, active low).
 */
void ioapic_init(void);
void ioapic_route(unsigned int pin, unsigned int vector, uint32_t apic_id);
void ioapic_route_pci(unsigned int pin, unsigned int vector, uint32_t apic_id);

/*
 * Masks or unmasks a pin. An edge that comes while the pin is masked is lost. Interrupts must be
 * off.
 */
void ioapic_mask(unsigned int pin, bool masked);

/*
 * 16550 at 0x3F8 (IRQ 4), 115200 8n1. Without this chip, writes are dropped, and reads return -1.
 */
#define SERIAL_IRQ	4
void serial_init(void);
void serial_write(const char *text, size_t n);
int serial_read(void);

/*
 * Enables the interrupt for received bytes. After this call serial_write() only queues bytes. With
 * interrupts off, at most 16 bytes (a FIFO) at a time go to the chip. serial_write() sends them if
 * the chip has sent all earlier bytes. Otherwise the interrupt handler sends them by serial_pump().
 * The handler must continue until nothing is pending, since the interrupt is edge-triggered.
 */
void serial_enable_irq(void);
void serial_pump(void);
bool serial_pending(void);

/*
 * Returns true if serial_write() has room for `n` bytes. Without room, serial_write() waits for the
 * chip.
 */
bool serial_fits(size_t n);

/*
 * serial_flush() waits until the chip has received all queued bytes. serial_poll() also disables
 * the queue, for output after a crash.
 */
void serial_flush(void);
void serial_poll(void);

/*
 * PS/2 keyboard (IRQ 1), US layout. Puts up to 3 bytes into `bytes`, as a terminal would send them.
 * Returns the number of bytes; -1: there is no scan code.
 */
#define PS2_IRQ		1
void ps2_init(void);
int ps2_read(uint8_t bytes[3]);

/* Moves the hardware cursor of the text screen to row * 80 + column. */
void vga_set_cursor(uint32_t cursor);

#endif
