// SPDX-License-Identifier: GPL-2.0-only
/* The local APIC of this CPU: registers, sending, and the clean-up when a CPU changes hands. */
#include "apic.h"
#include "cpu.h"
#include "vendor.h"
#include "x86.h"

/* highest entry of the local vector table if the APIC has CMCI */
#define VERSION_LVT_CMCI	6
#define VERSION_EXTENDED	(1u << 31)	/* AMD: extended registers begin at APIC_EXTENDED */
#define APIC_EXTENDED_CONTROL	0x410
#define EXTENDED_ID		(1u << 2)	/* 8-bit ids: the firmware decides */
#define APIC_EXTENDED_LVT	0x500
#define EXTENDED_LVTS		16		/* the most that there is room for */
#define ICR_PENDING		(1u << 12)
#define ICR_TRIES		100000
#define X2APIC_MSR		0x800u

u32 apic_read(u32 reg)
{
	if (me()->boot.x2apic)
		return rdmsr(X2APIC_MSR + (reg >> 4));
	return *(volatile u32 *)(QV_VA_APIC + reg);
}

void apic_write(u32 reg, u32 value)
{
	if (me()->boot.x2apic)
		wrmsr(X2APIC_MSR + (reg >> 4), value);
	else
		*(volatile u32 *)(QV_VA_APIC + reg) = value;
}

/* Waits until the last command is sent; a later one would replace it: AMD APM vol. 2, 16.5 */
static void wait_sent(void)
{
	u32 i;

	for (i = 0; (apic_read(APIC_ICR) & ICR_PENDING) && i < ICR_TRIES; i++)
		pause();
}

void apic_send(u32 low, u32 apic_id)
{
	u32 guests;

	if (me()->boot.x2apic) {
		asm volatile("mfence; lfence" : : : "memory");	/* x2APIC writes do not serialize */
		wrmsr(X2APIC_MSR + (APIC_ICR >> 4), (u64)apic_id << 32 | low);
		return;
	}
	wait_sent();
	guests = apic_read(APIC_ICR2);
	apic_write(APIC_ICR2, apic_id << 24);
	apic_write(APIC_ICR, low);
	wait_sent();
	apic_write(APIC_ICR2, guests);
}

void apic_eoi(void)
{
	apic_write(APIC_EOI, 0);
}

/* Returns true if one of the 256 bits from @reg on is set */
static bool any_bit(u32 reg)
{
	u32 i, bits = 0;

	for (i = 0; i < 8; i++)
		bits |= apic_read(reg + i * 0x10);
	return bits;
}

void apic_drain(void)
{
	u32 i;

	/*
	 * Enable it, with no vector masked by priority: else pending vectors stay pending. The
	 * spurious vector cannot be pending, since Bochs ignores an EOI of that vector.
	 */
	apic_write(APIC_SVR, 0x10f);
	for (i = APIC_LVTT; i <= APIC_LVTERR; i += 0x10)
		apic_write(i, apic_read(i) | 1 << 16);
	apic_write(APIC_TMICT, 0);
	apic_write(APIC_TPR, 0);
	if (!me()->boot.x2apic)
		apic_write(APIC_LDR, 0);	/* matches no logical destination */
	for (i = 0; i < 256 && any_bit(APIC_ISR); i++)
		apic_eoi();
	for (i = 0; i < 256 && any_bit(APIC_IRR); i++)
		vendor_take_interrupts();
	apic_write(APIC_SVR, 0xff);		/* as after INIT: disabled */
}

/*
 * Brings the APIC into the mode of this instance. The way back to xAPIC mode leads through the
 * disabled state only: Intel SDM vol. 3, 11.12.5; AMD APM vol. 2, 16.9. An NMI that arrives while
 * the APIC is disabled is lost, but not its command: arrive_in_front() looks for commands without
 * an NMI.
 */
static void set_mode(void)
{
	u64 base = rdmsr(MSR_APIC_BASE), mode = me()->boot.x2apic ? APIC_BASE_X2 : 0;

	if ((base & APIC_BASE_X2) == mode)
		return;
	if (!mode)
		wrmsr(MSR_APIC_BASE, base & ~(APIC_BASE_X2 | APIC_BASE_ON));
	wrmsr(MSR_APIC_BASE, (base & ~APIC_BASE_X2) | mode);
}

void apic_hand_over(const struct pcpu *cpu)
{
	u32 version, i, num;

	set_mode();
	if (!me()->boot.x2apic)		/* with direct IPIs the last guest may have changed it */
		apic_write(APIC_ID, cpu->apic_id << 24);
	version = apic_read(APIC_VERSION);
	if ((version >> 16 & 0xff) >= VERSION_LVT_CMCI)
		apic_write(APIC_CMCI, 1 << 16);
	if (version & VERSION_EXTENDED) {
		/*
		 * Switch off two features that Linux may have used: the choice of vectors that may
		 * interrupt (IER), and EOIs of chosen vectors.
		 */
		apic_write(APIC_EXTENDED_CONTROL, apic_read(APIC_EXTENDED_CONTROL) & EXTENDED_ID);
		num = apic_read(APIC_EXTENDED) >> 16 & 0xff;
		for (i = 0; i < num && i < EXTENDED_LVTS; i++)
			apic_write(APIC_EXTENDED_LVT + i * 0x10, 1 << 16);
	}
	apic_drain();
}
