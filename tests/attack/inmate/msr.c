// SPDX-License-Identifier: GPL-2.0-only
/* Model-specific registers. Reports the exception, or that the write succeeded. */
#include <inmate/cpu.h>
#include "attack.h"

static void try_write(uint32_t msr, uint64_t value)
{
	TRY("wrmsr", : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

static uint64_t try_read(uint32_t msr)
{
	uint32_t low = 0, high = 0;

	TRY("rdmsr", "+a"(low), "+d"(high) : "c"(msr) : "memory");
	return (uint64_t)high << 32 | low;
}

void msr_write(uint64_t msr, uint64_t value)
{
	try_write(msr, value);
	fault_ends();
	survived("written");
}

void msr_read(uint64_t msr, uint64_t unused)
{
	uint64_t value = try_read(msr);

	fault_ends();
	survived("read %lx", (unsigned long)value);
}

void msr_zero(uint64_t msr, uint64_t unused)
{
	uint64_t value = try_read(msr);

	fault_ends();
	if (value)
		breach("reads %lx", (unsigned long)value);
	survived("reads zero");
}

void msr_set_bits(uint64_t msr, uint64_t bits)
{
	try_write(msr, try_read(msr) | bits);
	fault_ends();
	survived("reads %lx now", (unsigned long)try_read(msr));
}

void msr_flip_bits(uint64_t msr, uint64_t bits)
{
	try_write(msr, try_read(msr) ^ bits);
	fault_ends();
	survived("reads %lx now", (unsigned long)try_read(msr));
}

void msr_sweep(uint64_t first, uint64_t last)
{
	unsigned int read = 0, faults = 0;
	uint64_t msr;

	for (msr = first; msr <= last; msr++) {
		try_read(msr);
		if (trapped < 0)
			read++;
		else
			faults++;
	}
	survived("%u read, %u faults", read, faults);
}

/* Writes each register that a cell may write. The registers of Linux must not change. */
void msr_own(uint64_t a, uint64_t b)
{
	static const uint32_t own[] = {
		0x174, 0x175, 0x176,				/* SYSENTER */
		/* the MSRs STAR, LSTAR, CSTAR, SFMASK */
		0xC0000081, 0xC0000082, 0xC0000083, 0xC0000084,
		/* the MSRs for the kernel's GS base and TSC_AUX */
		0xC0000102, 0xC0000103,
	};
	unsigned int i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		try_write(own[i], 0x00007ABCDEF01234);
		if (trapped >= 0)
			try_write(own[i], 0x12345678);
	}
	survived("%u registers", i);
}
