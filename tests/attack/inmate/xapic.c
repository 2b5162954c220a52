// SPDX-License-Identifier: GPL-2.0-only
/* Unusual writes to the xAPIC page. The destination is CPU 0 of Linux. */
#include <inmate/apic.h>
#include <inmate/cpu.h>
#include "attack.h"

#define ICR	(APIC_PAGE + 0x300)
#define INIT	0x4500u
#define AT(type, address) (*(volatile type *)(uintptr_t)(address))

/* Writes to the page in x2APIC mode, too, where a cell has no such page. */
static void page_write(uint32_t reg, uint32_t value)
{
	AT(uint32_t, APIC_PAGE + reg) = value;
}

static uint32_t page_read(uint32_t reg)
{
	return AT(uint32_t, APIC_PAGE + reg);
}

static void aim_at_linux(void)
{
	page_write(0x310, 0);
}

void xapic_bytes(uint64_t a, uint64_t b)
{
	aim_at_linux();
	AT(uint8_t, ICR + 1) = INIT >> 8;
	AT(uint8_t, ICR) = 0;
	survived("written");
}

void xapic_words(uint64_t a, uint64_t b)
{
	aim_at_linux();
	AT(uint16_t, ICR + 2) = 0;
	AT(uint16_t, ICR) = INIT;
	survived("written");
}

void xapic_quad(uint64_t a, uint64_t b)
{
	aim_at_linux();
	AT(uint64_t, ICR) = INIT;
	survived("written");
}

void xapic_store_at(uint64_t offset, uint64_t value)
{
	aim_at_linux();
	AT(uint32_t, APIC_PAGE + offset) = value;
	survived("written");
}

void xapic_cross(uint64_t pa, uint64_t b)
{
	AT(uint32_t, pa) = 0;
	survived("written");
}

void xapic_string(uint64_t value, uint64_t b)
{
	uint64_t at = APIC_PAGE + 0x300, words = 8;

	aim_at_linux();
	__asm__ volatile("rep; stosl" : "+D"(at), "+c"(words) : "a"((uint32_t)value) : "memory");
	survived("written");
}

void xapic_movs(uint64_t value, uint64_t b)
{
	static uint32_t from;
	uint64_t to = ICR, source = (uintptr_t)&from;

	from = value;
	aim_at_linux();
	__asm__ volatile("movsl" : "+D"(to), "+S"(source) : : "memory");
	survived("written");
}

void xapic_sse(uint64_t a, uint64_t b)
{
	aim_at_linux();
	__asm__ volatile("mov %0, %%cr4" : : "r"(read_cr4() | 0x200));		/* OSFXSR */
	/* CR0 has MP set, and EM and TS clear */
	__asm__ volatile("mov %0, %%cr0" : : "r"((read_cr0() | 2) & ~12ull));
	__asm__ volatile("movups %%xmm0, (%0)" : : "r"(ICR) : "memory");
	survived("written");
}

void xapic_cmpxchg(uint64_t value, uint64_t b)
{
	uint32_t old = AT(uint32_t, ICR);

	aim_at_linux();
	__asm__ volatile("lock; cmpxchgl %1, (%2)"
			 : "+a"(old) : "r"((uint32_t)value), "r"(ICR) : "memory", "cc");
	survived("written");
}

void xapic_xchg(uint64_t value, uint64_t b)
{
	uint32_t v = value;

	aim_at_linux();
	__asm__ volatile("xchgl %0, (%1)" : "+r"(v) : "r"(ICR) : "memory");
	survived("written");
}

void xapic_or(uint64_t value, uint64_t b)
{
	aim_at_linux();
	__asm__ volatile("orl %0, (%1)" : : "r"((uint32_t)value), "r"(ICR) : "memory", "cc");
	survived("written");
}

void xapic_inc(uint64_t a, uint64_t b)
{
	aim_at_linux();
	__asm__ volatile("incl (%0)" : : "r"(ICR) : "memory", "cc");
	survived("written");
}

/* GS is flat in long mode if its base is 0. The REX prefix comes last. */
void xapic_prefixes(uint64_t value, uint64_t b)
{
	aim_at_linux();
	__asm__ volatile("movl $0xFEE00300, %%r11d; .byte 0x65, 0x3e, 0x67, 0x41, 0x89, 0x03"
			 /* bytes of mov %eax, %gs:(%r11d) */
			 : : "a"((uint32_t)value) : "memory", "r11");
	survived("written");
}

void xapic_registers(uint64_t a, uint64_t b)
{
	uint32_t reg;

	for (reg = 0; reg <= 0x3E0; reg += 0x10)
		if (reg != 0x300 && (reg < 0x320 || reg > 0x370))
			page_write(reg, 0x00010000);
	survived("written");
}

void xapic_reserved(uint64_t a, uint64_t b)
{
	uint32_t reg, sum = 0;

	for (reg = 0x400; reg < 0x1000; reg += 0x10) {
		sum += page_read(reg);
		page_write(reg, ~0u);
	}
	survived("%x", sum);
}

void xapic_ldr(uint64_t low, uint64_t b)
{
	uint32_t name, mode;

	for (mode = 0; mode < 2; mode++) {
		page_write(0xE0, mode ? 0x0FFFFFFF : 0xFFFFFFFF);
		for (name = 0; name < 256; name++) {
			page_write(0xD0, name << 24);
			ipi(low, name);
			ipi(low, 0xFF);
		}
	}
	survived("512 names");
}

void xapic_cluster(uint64_t low, uint64_t b)
{
	uint32_t i;

	for (i = 0; i < 256; i++) {
		page_write(0xE0, (i & 1 ? 0x0u : 0xFu) << 28 | 0x0FFFFFFF);
		ipi(low, i);
	}
	survived("256 names");
}

void xapic_id(uint64_t low, uint64_t id)
{
	page_write(0x20, id << 24);
	ipi(low, id);
	survived("sent");
}

void xapic_id_write(uint64_t value, uint64_t b)
{
	uint32_t before = page_read(0x20);

	page_write(0x20, value);
	if (page_read(0x20) != before)
		breach("id %x was %x", page_read(0x20), before);
	survived("id %x", before);
}
