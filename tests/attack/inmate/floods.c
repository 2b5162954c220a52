// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/trap.h>
#include "attack.h"

#define FLOOD(name, code) \
	void name(uint64_t a, uint64_t b) \
	{ \
		for (;; still_here()) { \
			code; \
		} \
	}


static uint8_t lines[4096] __attribute__((aligned(4096)));
extern char image_end[];

static void memory_pass(void)
{
	volatile uint64_t *at = (volatile uint64_t *)(((uintptr_t)image_end + 7) & ~7ull);

	for (; (uintptr_t)at < cell_info()->memory; at += 8)
		*at += 1;
}

FLOOD(flood_bell, cell_call_with(QV_CALL_BELL, a, 0))
FLOOD(flood_cpuid, cpuid(1, 0))
FLOOD(flood_call, call(7, 1, 0))
FLOOD(flood_vmrun, TRY("vmrun", : "a"(0x3000) : "memory"))
FLOOD(flood_vmxon, TRY("vmxon %0", : "m"(a) : "memory", "cc"))
FLOOD(flood_xsetbv, TRY("xsetbv", : "a"(7), "c"(0), "d"(0) : "memory"))
FLOOD(flood_efer, wrmsr(MSR_EFER, rdmsr(MSR_EFER) ^ EFER_SCE))
FLOOD(flood_invd, __asm__ volatile("invd" : : : "memory"))
FLOOD(flood_wbinvd, __asm__ volatile("wbinvd" : : : "memory"))
FLOOD(flood_icr, ipi(0x48FD, 0))
FLOOD(flood_stream, console_write("0123456789012345678901234567890123456789\r\n", 42))
FLOOD(flood_screen, cell_screen_changed(a++ % 4000))
FLOOD(flood_cr3, write_cr3(read_cr3()))
FLOOD(flood_memory, memory_pass())
FLOOD(flood_clflush, __asm__ volatile("clflush %0" : "+m"(lines[a++ % sizeof(lines)])))
FLOOD(flood_split_lock, __asm__ volatile("lock; incq %0" : "+m"(*(uint64_t *)&lines[60])))
FLOOD(flood_apic, apic_raw(APIC_TPR, a++ & 0xFF))

static void nmi(struct trap_frame *frame)
{
	still_here();
}

/* Each handler returns by IRET, so that the next interrupt can come */
void flood_nmi(uint64_t a, uint64_t b)
{
	trap_set_exception(nmi);
	for (;;)
		ipi_only(0x44400);
}
