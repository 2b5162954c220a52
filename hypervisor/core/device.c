// SPDX-License-Identifier: GPL-2.0-only
/* Accesses registers of devices. gmem_map() maps the device's page for each access. */
#include "gmem.h"
#include "pci.h"

volatile void *device_map(struct pcpu *cpu, u64 pa)
{
	return gmem_map(cpu, pa, PT_W | PT_PCD | PT_PWT);
}

/* Some AMD processors need eax for accesses to ECAM: family 10h BKDG, 2.11.1 */
u32 device_read(struct pcpu *cpu, u64 pa)
{
	u32 data;

	asm volatile("movl (%1), %0" : "=a"(data) : "r"(device_map(cpu, pa & ~3ull)) : "memory");
	return data;
}

void device_write(struct pcpu *cpu, u64 pa, u32 value)
{
	asm volatile("movl %0, (%1)" : : "a"(value), "r"(device_map(cpu, pa)) : "memory");
}
