// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include "attack.h"

#define CONFIG_ADDRESS	0xCF8
#define CONFIG_DATA	0xCFC

static void out32(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static uint32_t in32(uint16_t port)
{
	uint32_t value;

	__asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

void port_out(uint64_t port, uint64_t value)
{
	outb(port, value);
	survived("written");
}

void port_out16(uint64_t port, uint64_t value)
{
	__asm__ volatile("outw %0, %1" : : "a"((uint16_t)value), "Nd"((uint16_t)port) : "memory");
	survived("written");
}

void port_out32(uint64_t port, uint64_t value)
{
	out32(port, value);
	survived("written");
}

void port_in(uint64_t port, uint64_t b)
{
	survived("read %x", inb(port));
}

void port_in32(uint64_t port, uint64_t b)
{
	survived("read %x", in32(port));
}

void port_rep_out(uint64_t port, uint64_t count)
{
	uint64_t from = 0x100000;

	__asm__ volatile("rep; outsb" : "+S"(from), "+c"(count) : "d"((uint16_t)port) : "memory");
	survived("written");
}

void port_rep_in(uint64_t port, uint64_t count)
{
	uint64_t to = 0xB9000;

	__asm__ volatile("rep; insb" : "+D"(to), "+c"(count) : "d"((uint16_t)port) : "memory");
	survived("read");
}

/* If the cell continues to run, the register must not have the written value */
void port_pci_write(uint64_t address, uint64_t value)
{
	out32(CONFIG_ADDRESS, address);
	out32(CONFIG_DATA, value);
	out32(CONFIG_ADDRESS, address);
	if (in32(CONFIG_DATA) != ~0u)
		breach("reads %x", in32(CONFIG_DATA));
	survived("dropped");
}

void port_pci_scan(uint64_t a, uint64_t b)
{
	uint32_t device, found = 0;

	for (device = 0; device < 32; device++) {
		out32(CONFIG_ADDRESS, 0x80000000 | device << 11);
		found += in32(CONFIG_DATA) != ~0u;
	}
	if (found)
		breach("%u devices", found);
	survived("none");
}

/* IOPL 3 lets level 3 access ports; the monitor's port map still applies */
void port_user(uint64_t port, uint64_t value)
{
	__asm__ volatile("pushfq; orq $0x3000, (%%rsp); popfq; outb %0, %1"
			 : : "a"((uint8_t)value), "d"((uint16_t)port) : "memory", "cc");
	survived("written");
}
