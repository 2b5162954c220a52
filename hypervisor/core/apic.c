// SPDX-License-Identifier: GPL-2.0-only
/*
 * The local APIC: sending, and what guests write to it. In x2APIC mode only
 * ICR writes come here; in xAPIC mode every write to the page does.
 */
#include "cpu.h"
#include "decode.h"
#include "vendor.h"

#define APIC_TPR	0x80
#define APIC_EOI	0xb0
#define APIC_LDR	0xd0
#define APIC_DFR	0xe0
#define APIC_SVR	0xf0
#define APIC_ISR	0x100
#define APIC_IRR	0x200
#define APIC_ICR	0x300
#define APIC_ICR2	0x310
#define APIC_ID		0x20
#define APIC_TMICT	0x380
#define APIC_TDCR	0x3e0
#define APIC_CMCI	0x2f0
#define APIC_LVTT	0x320
#define APIC_LVTERR	0x370
#define APIC_VERSION	0x30
#define VERSION_LVT_CMCI	6	/* highest entry of the local vector table, where there is CMCI's */
#define VERSION_EXTENDED	(1u << 31)	/* AMD: registers from APIC_EXTENDED on */
#define APIC_EXTENDED	0x400
#define APIC_EXTENDED_CONTROL	0x410
#define EXTENDED_ID	(1u << 2)	/* ids of eight bits, as the firmware chose */
#define APIC_EXTENDED_LVT	0x500
#define EXTENDED_LVTS	16		/* up to where they could lie */
#define ICR_PENDING	(1u << 12)
#define ICR_PATIENCE	100000
#define X2APIC_MSR	0x800

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

void apic_send(u32 low, u32 apic_id)
{
	u32 i;

	if (me()->boot.x2apic) {
		asm volatile("mfence; lfence" : : : "memory");	/* x2APIC writes do not serialize */
		wrmsr(X2APIC_MSR + (APIC_ICR >> 4), (u64)apic_id << 32 | low);
		return;
	}
	/* The last one must be on its way, or it is lost: AMD APM vol. 2, 16.5 */
	for (i = 0; (apic_read(APIC_ICR) & ICR_PENDING) && i < ICR_PATIENCE; i++)
		pause();
	apic_write(APIC_ICR2, apic_id << 24);
	apic_write(APIC_ICR, low);
}

void apic_eoi(void)
{
	apic_write(APIC_EOI, 0);
}

static bool any(u32 reg)
{
	u32 i, bits = 0;

	for (i = 0; i < 8; i++)
		bits |= apic_read(reg + i * 0x10);
	return bits;
}

void apic_drain(void)
{
	u32 i;

	/* Enabled, nothing masked by priority: else pending vectors would stay where they are */
	apic_write(APIC_SVR, 0x1ff);
	for (i = APIC_LVTT; i <= APIC_LVTERR; i += 0x10)
		apic_write(i, apic_read(i) | 1 << 16);
	apic_write(APIC_TMICT, 0);
	apic_write(APIC_TPR, 0);
	if (!me()->boot.x2apic)
		apic_write(APIC_LDR, 0);	/* nobody's logical interrupt */
	for (i = 0; i < 256 && any(APIC_ISR); i++)
		apic_eoi();
	for (i = 0; i < 256 && any(APIC_IRR); i++)
		vendor_take_interrupts();
	apic_write(APIC_SVR, 0xff);		/* as after INIT: disabled */
}

void apic_hand_over(void)
{
	u32 version = apic_read(APIC_VERSION), i, num;

	if ((version >> 16 & 0xff) >= VERSION_LVT_CMCI)
		apic_write(APIC_CMCI, 1 << 16);
	if (version & VERSION_EXTENDED) {
		/* Off: Linux's choice of the vectors that may interrupt (IER), and EOIs of chosen vectors */
		apic_write(APIC_EXTENDED_CONTROL, apic_read(APIC_EXTENDED_CONTROL) & EXTENDED_ID);
		num = apic_read(APIC_EXTENDED) >> 16 & 0xff;
		for (i = 0; i < num && i < EXTENDED_LVTS; i++)
			apic_write(APIC_EXTENDED_LVT + i * 0x10, 1 << 16);
	}
	apic_drain();
}

void icr_learn(struct pcpu *cpu)
{
	if (me()->boot.x2apic)
		return;
	me()->icr.ldr[cpu->index] = apic_read(APIC_LDR) >> 24;
	me()->icr.cluster = apic_read(APIC_DFR) >> 28 != 0xf;
}

bool icr_write(struct pcpu *cpu, u32 low, u32 dest)
{
	struct icr_verdict v = icr_filter(&me()->icr, low, dest, cpu->index);
	u32 i;

	if (v.foreign) {
		cpu_status(cpu)->denied++;
		log_event(cpu, QV_LOG_IPI_DENIED, low, dest);
		if (!is_front_end()) {
			cell_fail(cpu, QV_FAIL_IPI, (u64)dest << 32 | low);
			return false;
		}
	}
	for (i = 0; i < me()->icr.num; i++) {
		struct pcpu *target = pcpu_of(i);

		if (!(v.targets & 1ull << i))
			continue;
		switch (v.action) {
		case ICR_SEND:
			apic_send(v.low, target->apic_id);
			break;
		case ICR_INIT:
			kick(target, CMD_INIT);
			break;
		case ICR_SIPI:
			__atomic_store_n(&target->sipi, v.vector, __ATOMIC_RELEASE);
			kick(target, CMD_SIPI);
			break;
		default:
			break;
		}
	}
	return true;
}

static bool xapic_store(struct pcpu *cpu, u32 reg, u32 value)
{
	bool lvt = reg == APIC_CMCI || (reg >= APIC_LVTT && reg <= APIC_LVTERR);

	/* A cell's registers end where AMD's extended ones begin */
	if (!is_front_end() && (reg > APIC_TDCR || (lvt && !lvt_fine(value))))
		return false;
	switch (reg) {
	case APIC_ICR:
		return icr_write(cpu, value, cpu->icr2 >> 24);
	case APIC_ICR2:
		cpu->icr2 = value;
		return true;
	case APIC_ID:		/* an id that changes would defeat the filter */
		return true;
	case APIC_LDR:		/* a cell's name is known to the filter alone: devices' interrupts are Linux's */
		me()->icr.ldr[cpu->index] = value >> 24;
		if (!is_front_end())
			return true;
		break;
	case APIC_DFR:
		me()->icr.cluster = value >> 28 != 0xf;
		break;
	}
	apic_write(reg, value);
	return true;
}

#define FLAGS_SZP	0xc4u		/* sign, zero, parity */
#define FLAGS_STATUS	0x8d5u		/* these, overflow, adjust, carry */

/* As after OR and AND */
static void logic_flags(struct pcpu *cpu, u32 result)
{
	u32 eax;

	asm("test %1, %1; lahf" : "=a"(eax) : "r"(result) : "cc");
	vendor_set_flags(cpu, FLAGS_STATUS, eax >> 8 & FLAGS_SZP);
}

bool xapic_write(struct pcpu *cpu, u64 gpa)
{
	u32 reg = gpa & 0xff0, old;
	struct decoded d;

	if (!mmio_decode(cpu, &d) || d.size != 4)
		return false;
	old = reg == APIC_ICR2 ? cpu->icr2 : apic_read(reg);
	switch (d.op) {
	case DECODE_STORE:
		break;
	case DECODE_XCHG:
		cpu->regs[d.reg] = old;
		break;
	case DECODE_OR:
		d.value |= old;
		break;
	case DECODE_AND:
		d.value &= old;
		break;
	case DECODE_LOAD:
		return false;
	}
	if (!xapic_store(cpu, reg, d.value))
		return false;
	vendor_skip(cpu, d.len);
	if (d.op == DECODE_OR || d.op == DECODE_AND)
		logic_flags(cpu, d.value);
	return true;
}
