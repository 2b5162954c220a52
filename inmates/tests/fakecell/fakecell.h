/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the two halves of the fake cell; 32-bit code. */
#ifndef FAKECELL_H
#define FAKECELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <qv/cell.h>

#define DOORBELL_VECTOR	0x51

struct options {
	uint32_t memory;	/* size of the cell's memory in bytes */
	uint32_t doorbell;	/* vector of the doorbell; 0: there is no doorbell */
	uint32_t bell;		/* vector of the first channel's bell; 0: it has no bell */
	bool x2apic;
	bool keys;		/* the cell has channels at run time: image/fakekeys.c */
};

extern struct options options;
extern volatile bool relay_runs;

static inline void out8(uint16_t port, uint8_t v)
{
	__asm__ volatile("outb %0, %1" : : "a"(v), "Nd"(port) : "memory");
}

static inline uint8_t in8(uint16_t port)
{
	uint8_t v;

	__asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline void write_msr(uint32_t msr, uint64_t v)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "A"(v) : "memory");
}

static inline uint64_t read_msr(uint32_t msr)
{
	uint64_t v;

	__asm__ volatile("rdmsr" : "=A"(v) : "c"(msr) : "memory");
	return v;
}

/* Writes the ICR, for the CPU with APIC id `to`. */
void send_ipi(uint32_t to, uint32_t command);

/* Enables this CPU's APIC, in the mode that the options select. */
void apic_on(void);
void say(const char *text);

/* Stops the far end of the channel `talk`, or lets it run again. */
void toggle_peer(void);

#endif
