// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/apic.h>
#include <inmate/cpu.h>

#define APIC_BASE_ENABLE	(1u << 11)
#define APIC_BASE_X2APIC	(1u << 10)
#define SVR_ENABLE		(1u << 8)

static bool ready, x2;

/*
 * Each access is one plain 32-bit move. If the page is trapped, the monitor must decode this
 * instruction.
 */
static uint32_t page_read(uint32_t reg)
{
	uint32_t value;

	__asm__ volatile("movl (%1), %0" : "=a"(value) : "r"(APIC_PAGE + reg) : "memory");
	return value;
}

static void page_write(uint32_t reg, uint32_t value)
{
	__asm__ volatile("movl %0, (%1)" : : "a"(value), "r"(APIC_PAGE + reg) : "memory");
}

uint32_t apic_read(uint32_t reg)
{
	return x2 ? (uint32_t)rdmsr(MSR_X2APIC + (reg >> 4)) : page_read(reg);
}

void apic_write(uint32_t reg, uint32_t value)
{
	if (x2)
		wrmsr(MSR_X2APIC + (reg >> 4), value);
	else
		page_write(reg, value);
}

bool apic_is_x2apic(void)
{
	return x2;
}

uint32_t apic_id(void)
{
	uint32_t id = apic_read(APIC_ID);

	return x2 ? id : id >> 24;
}

void apic_eoi(void)
{
	if (ready)
		apic_write(APIC_EOI, 0);
}

bool apic_try_x2apic(bool offered)
{
	uint64_t base = rdmsr(MSR_APIC_BASE);

	if (base & APIC_BASE_X2APIC)
		return true;
	if (!offered)
		return false;
	wrmsr(MSR_APIC_BASE, base | APIC_BASE_ENABLE);
	wrmsr(MSR_APIC_BASE, base | APIC_BASE_ENABLE | APIC_BASE_X2APIC);
	return true;
}

void apic_init(bool x2apic)
{
	unsigned int max_lvt;

	x2 = x2apic;
	apic_write(APIC_SVR, SVR_ENABLE | APIC_SPURIOUS_VECTOR);
	max_lvt = apic_read(APIC_VERSION) >> 16 & 0xFF;
	apic_write(APIC_LVT_TIMER, APIC_LVT_MASKED);
	apic_write(APIC_LVT_LINT0, APIC_LVT_MASKED);
	apic_write(APIC_LVT_LINT1, APIC_LVT_MASKED);
	apic_write(APIC_LVT_ERROR, APIC_LVT_MASKED);
	if (max_lvt >= 4)
		apic_write(APIC_LVT_PERF, APIC_LVT_MASKED);
	if (max_lvt >= 5)
		apic_write(APIC_LVT_THERMAL, APIC_LVT_MASKED);
	apic_write(APIC_TPR, 0);
	ready = true;
}
