/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Single instructions. Names follow the AMD64 manual (volumes 2 and 3). */
#ifndef INMATE_CPU_H
#define INMATE_CPU_H

#include <stdint.h>
#include <stdbool.h>

#define MSR_APIC_BASE		0x1B
#define MSR_SYSENTER_CS		0x174
#define MSR_TSC_DEADLINE	0x6E0
#define MSR_X2APIC		0x800
#define MSR_EFER		0xC0000080

#define MSR_STAR		0xC0000081
#define MSR_LSTAR		0xC0000082
#define MSR_SFMASK		0xC0000084

#define EFER_SCE		(1u << 0)
#define EFER_NXE		(1u << 11)
#define RFLAGS_IF		(1u << 9)

struct cpuid_regs {
	uint32_t eax, ebx, ecx, edx;
};

static inline uint64_t rdtsc(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

/* Reads the TSC after all earlier loads and before all later instructions. */
static inline uint64_t rdtsc_ordered(void)
{
	uint64_t now;

	__asm__ volatile("lfence" : : : "memory");
	now = rdtsc();
	__asm__ volatile("lfence" : : : "memory");
	return now;
}

static inline uint64_t rdmsr(uint32_t msr)
{
	uint32_t lo, hi;

	__asm__ volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr) : "memory");
	return (uint64_t)hi << 32 | lo;
}

static inline void wrmsr(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)value),
			 "d"((uint32_t)(value >> 32)) : "memory");
}

/* In a cell each CPUID may cause an exit, so call this at boot and keep the result. */
static inline struct cpuid_regs cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid_regs r;

	__asm__ volatile("cpuid" : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
			 : "a"(leaf), "c"(subleaf) : "memory");
	return r;
}

static inline void outb(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static inline uint8_t inb(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline void outw(uint16_t port, uint16_t value)
{
	__asm__ volatile("outw %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static inline uint16_t inw(uint16_t port)
{
	uint16_t value;

	__asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline void outl(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static inline uint32_t inl(uint16_t port)
{
	uint32_t value;

	__asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline uint64_t read_cr0(void)
{
	uint64_t v;

	__asm__ volatile("mov %%cr0, %0" : "=r"(v));
	return v;
}

static inline uint64_t read_cr2(void)
{
	uint64_t v;

	__asm__ volatile("mov %%cr2, %0" : "=r"(v));
	return v;
}

static inline uint64_t read_cr3(void)
{
	uint64_t v;

	__asm__ volatile("mov %%cr3, %0" : "=r"(v));
	return v;
}

static inline void write_cr3(uint64_t v)
{
	__asm__ volatile("mov %0, %%cr3" : : "r"(v) : "memory");
}

static inline uint64_t read_cr4(void)
{
	uint64_t v;

	__asm__ volatile("mov %%cr4, %0" : "=r"(v));
	return v;
}

/* Sets the task priority, which blocks interrupts with vectors below (v + 1) * 16. */
static inline void write_cr8(uint64_t v)
{
	__asm__ volatile("mov %0, %%cr8" : : "r"(v) : "memory");
}

static inline void write_cr4(uint64_t v)
{
	__asm__ volatile("mov %0, %%cr4" : : "r"(v) : "memory");
}

static inline void invlpg(uint64_t va)
{
	__asm__ volatile("invlpg (%0)" : : "r"(va) : "memory");
}

static inline void cpu_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}

static inline void barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

static inline void irq_disable(void)
{
	__asm__ volatile("cli" : : : "memory");
}

static inline void irq_enable(void)
{
	__asm__ volatile("sti" : : : "memory");
}

static inline bool irq_enabled(void)
{
	uint64_t flags;

	__asm__ volatile("pushfq; popq %0" : "=r"(flags) : : "memory");
	return flags & RFLAGS_IF;
}

/* Disables interrupts. Returns true if they were on, for irq_restore(). */
static inline bool irq_save(void)
{
	bool on = irq_enabled();

	irq_disable();
	return on;
}

static inline void irq_restore(bool on)
{
	if (on)
		irq_enable();
}

/*
 * Enables interrupts and halts. STI takes effect only after the next instruction, HLT. So no
 * interrupt can come between the caller's last check, with interrupts off, and the halt.
 */
static inline void irq_wait(void)
{
	__asm__ volatile("sti; hlt" : : : "memory");
}

/* Stops this CPU permanently. */
static inline _Noreturn void cpu_stop(void)
{
	for (;;)
		__asm__ volatile("cli; hlt" : : : "memory");
}

#endif
