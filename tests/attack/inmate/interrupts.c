// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts to other CPUs, to all CPUs and to itself, and by the APIC's local vector table. */
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/trap.h>
#include "attack.h"

#define ICR		0x300
#define ICR_HIGH	0x310
#define ICR_PENDING	(1u << 12)
#define X2APIC_ICR	0x830
#define X2APIC_SELF	0x83F
#define LOGICAL		0x800
#define ESR		0x280
#define PERIODIC	(1u << 17)

void apic_raw(uint32_t reg, uint32_t value)
{
	apic_write(reg, value);
}

uint32_t apic_get(uint32_t reg)
{
	return apic_read(reg);
}

void ipi(uint32_t low, uint32_t dest)
{
	if (apic_is_x2apic()) {
		TRY("wrmsr", : "c"(X2APIC_ICR), "a"(low), "d"(dest) : "memory");
		return;
	}
	trapped = -1;
	apic_write(ICR_HIGH, dest << 24);
	apic_write(ICR, low);
}

void ipi_only(uint32_t low)
{
	if (apic_is_x2apic())
		wrmsr(X2APIC_ICR, low);
	else
		apic_write(ICR, low);
}

void ipi_wait(void)
{
	uint32_t i;

	for (i = 0; i < 100000; i++)
		cpu_relax();
}

void icr(uint64_t low, uint64_t dest)
{
	ipi(low, dest);
	fault_ends();
	ipi_wait();
	survived("sent");
}

void icr_broadcast(uint64_t low, uint64_t b)
{
	icr(low, apic_is_x2apic() ? ~0u : 0xFF);
}

void icr_vectors(uint64_t first, uint64_t last)
{
	uint64_t v;

	for (v = first; v <= last; v++) {
		ipi(0x44000 | v, 0);
		ipi(0x4000 | v, apic_id());
	}
	survived("sent");
}

/*
 * This row sends no NMI and uses no physical destination: other rows show that these end the cell
 * at once
 */
void icr_sweep(uint64_t a, uint64_t b)
{
	static const uint8_t modes[] = { 0, 1, 2, 3, 5, 6, 7 };
	uint32_t i, dest, sent = 0;

	for (i = 0; i < sizeof(modes); i++) {
		for (dest = 0; dest < 256; dest++, sent++)
			ipi(0x4000 | LOGICAL | modes[i] << 8 | 0xFD, dest);
		for (dest = 0; dest < 4; dest++, sent++) {
			ipi(0xC4000 | modes[i] << 8 | 0xFD, dest);
			ipi(0xC8000 | modes[i] << 8 | 0xFD, dest);
		}
	}
	ipi_wait();
	survived("%u sent", sent);
}

void icr_clusters(uint64_t a, uint64_t b)
{
	uint32_t cluster, mode, sent = 0;

	for (mode = 0; mode < 8; mode++)
		for (cluster = 0; cluster < 20 && mode != 4; cluster++, sent++)
			ipi(0x4000 | LOGICAL | mode << 8 | 0xFD,
			    (cluster < 16 ? cluster : 0xFFF0 + cluster) << 16 | 0xFFFF);
	ipi_wait();
	survived("%u sent", sent);
}

void icr_self_register(uint64_t first, uint64_t last)
{
	uint64_t v, faults = 0;

	for (v = first; v <= last; v++) {
		TRY("wrmsr", : "c"(X2APIC_SELF), "a"((uint32_t)v), "d"(0) : "memory");
		faults += trapped >= 0;
	}
	irq_enable();
	ipi_wait();
	irq_disable();
	survived("%lu faults", (unsigned long)faults);
}

static void nothing(struct trap_frame *frame)
{
}

void icr_flood_self(uint64_t times, uint64_t b)
{
	trap_set_irq(0xF0, nothing);
	irq_enable();
	while (times--)
		ipi(0x440F0, 0);
	irq_disable();
	survived("sent");
}

void icr_flood_nobody(uint64_t times, uint64_t b)
{
	while (times--)
		ipi(0x4000 | LOGICAL | 0xFD, apic_is_x2apic() ? 0x70001 : 0);
	survived("sent");
}

/*
 * Waits for the timer for a short time. The guest does not see an SMI, since the firmware handles
 * it.
 */
void lvt_timer(uint64_t mode, uint64_t b)
{
	uint32_t i;

	apic_raw(APIC_TIMER_DIVIDE, 0xB);
	apic_raw(APIC_LVT_TIMER, mode | 0xF0);
	apic_raw(APIC_TIMER_INITIAL, 1000);
	irq_enable();
	for (i = 0; i < 50; i++)
		ipi_wait();
	irq_disable();
	survived("entry reads %x", apic_get(APIC_LVT_TIMER));
}

void direct_flood(uint64_t low, uint64_t dest)
{
	uint32_t i;

	for (i = 0; i < 20000; i++)
		ipi(low, dest);
	survived("sent");
}

void lvt(uint64_t reg, uint64_t mode)
{
	apic_raw(reg, mode);
	ipi_wait();
	survived("entry reads %x", apic_get(reg));
}

void lvt_error(uint64_t mode, uint64_t b)
{
	apic_raw(APIC_LVT_ERROR, mode | 0xF0);
	ipi(0x44001, 0);		/* an illegal vector is an error */
	TRY("wrmsr", : "c"(X2APIC_SELF), "a"(1), "d"(0) : "memory");
	ipi_wait();
	survived("entry reads %x", apic_get(APIC_LVT_ERROR));
}

void lvt_extended(uint64_t reg, uint64_t mode)
{
	uint32_t i;

	for (i = 0; i < 4; i++) {
		if (apic_is_x2apic())
			TRY("wrmsr", : "c"((uint32_t)(0x800 + (reg >> 4) + i)),
			    "a"((uint32_t)mode), "d"(0) : "memory");
		else
			apic_raw(reg + 0x10 * i, mode);
	}
	survived("written");
}

void apic_off(uint64_t a, uint64_t b)
{
	apic_raw(APIC_SVR, 0xFF);
	apic_raw(APIC_TPR, 0xFF);
	survived("off");
}

void apic_timer_storm(uint64_t ticks, uint64_t b)
{
	trap_set_irq(0xF0, nothing);
	apic_raw(APIC_TIMER_DIVIDE, 0xB);
	apic_raw(APIC_LVT_TIMER, PERIODIC | 0xF0);
	apic_raw(APIC_TIMER_INITIAL, ticks);
	irq_enable();
	for (;;)
		cpu_relax();
}

static uint64_t in_service;

/* The interrupt gets no EOI: the frame returns to code after the library's EOI */
static void keep(struct trap_frame *frame)
{
	in_service++;
	irq_enable();
	while (in_service < 10)
		ipi(0x44000 | (0x20 + in_service * 0x10), 0);
	irq_disable();
	survived("%lu in service", (unsigned long)in_service);
}

void apic_no_eoi(uint64_t a, uint64_t b)
{
	uint32_t v;

	for (v = 0x20; v < 0x100; v += 0x10)
		trap_set_irq(v, keep);
	ipi(0x44020, 0);
	irq_enable();
	ipi_wait();
	survived("nothing came");
}
