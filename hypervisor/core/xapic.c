// SPDX-License-Identifier: GPL-2.0-only
/* A guest's writes to the page of its local APIC, which all exit in xAPIC mode. */
#include "apic.h"
#include "gmem.h"
#include "vendor.h"
#include "x86.h"

bool xapic_page(u64 gpa, bool write)
{
	return write && (gpa & ~0xfffull) == APIC_PAGE && !me()->boot.x2apic;
}

bool xapic_decode(struct pcpu *cpu, u64 gpa, struct xapic_write *w)
{
	u32 old;

	if (!mmio_decode(cpu, &w->d) || w->d.size != 4 || w->d.op == DECODE_LOAD)
		return false;
	w->reg = gpa & 0xff0;
	w->value = w->d.value;
	old = apic_read(w->reg);
	if (w->d.op == DECODE_XCHG)
		cpu->regs[w->d.reg] = old;
	else if (w->d.op == DECODE_OR)
		w->value |= old;
	else if (w->d.op == DECODE_AND)
		w->value &= old;
	if (w->reg == APIC_ICR)
		w->value |= (u64)(apic_read(APIC_ICR2) >> 24) << 32;
	return true;
}

bool xapic_carry_out(struct pcpu *cpu, const struct xapic_write *w, u32 kept)
{
	if (w->reg == APIC_ICR)
		return icr_write(cpu, w->value);
	if (w->reg == APIC_LDR)
		me()->icr.ldr[cpu->index] = w->value >> 24;
	else if (w->reg == APIC_DFR)
		me()->icr.cluster = w->value >> 28 != 0xf;
	/* a change of the id would defeat the filter */
	if (w->reg != APIC_ID && w->reg != kept)
		apic_write(w->reg, w->value);
	return true;
}

#define FLAGS_SZP	0xc4u		/* flags that the result determines: sign, zero, parity */
/* all flags that OR and AND write: these three, overflow, adjust, carry */
#define FLAGS_STATUS	0x8d5u

/* Sets RFLAGS for the result as OR and AND do */
static void logic_flags(struct pcpu *cpu, u32 result)
{
	u32 eax;

	asm("test %1, %1; lahf" : "=a"(eax) : "r"(result) : "cc");
	vendor_set_flags(cpu, FLAGS_STATUS, eax >> 8 & FLAGS_SZP);
}

void xapic_done(struct pcpu *cpu, const struct xapic_write *w)
{
	vendor_skip(cpu, w->d.len);
	if (w->d.op == DECODE_OR || w->d.op == DECODE_AND)
		logic_flags(cpu, w->value);
}
