/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The local APIC of this CPU. apic.c: the hardware. ipi.c: a guest's interrupt commands. xapic.c: a
 * guest's writes to the page.
 */
#ifndef QV_APIC_H
#define QV_APIC_H

#include "decode.h"
#include "instance.h"

/*
 * Offsets of registers in the APIC's page; an x2APIC MSR is 0x800 + offset / 16. AMD APM vol. 2,
 * 16.3; Intel SDM vol. 3, 11.4
 */
#define APIC_ID		0x20
#define APIC_VERSION	0x30
#define APIC_TPR	0x80
#define APIC_EOI	0xb0
#define APIC_LDR	0xd0
#define APIC_DFR	0xe0
#define APIC_SVR	0xf0
#define APIC_ISR	0x100
#define APIC_IRR	0x200
#define APIC_CMCI	0x2f0
#define APIC_ICR	0x300
#define APIC_ICR2	0x310
#define APIC_LVTT	0x320
#define APIC_LVTERR	0x370
#define APIC_TMICT	0x380
#define APIC_TDCR	0x3e0
#define APIC_EXTENDED	0x400	/* AMD */
#define APIC_NMI	(4u << 8 | 1u << 14)	/* APIC_ICR: an NMI */

/* apic.c */
u32 apic_read(u32 reg);
void apic_write(u32 reg, u32 value);
/*
 * @low: bits 31..0 of the ICR. In xAPIC mode this keeps the guest's destination half of it, which
 * is in the register.
 */
void apic_send(u32 low, u32 apic_id);
/* Sends a BELL(), if it is one */
static inline void bell_send(u64 bell)
{
	if (bell)
		apic_send(1 << 14 | (u8)bell, bell >> 32);
}
void apic_eoi(void);
/* Drops all pending interrupts, so that none reaches the next guest of this CPU */
void apic_drain(void);
/*
 * For a CPU that has just changed its instance: brings the APIC into the instance's mode and drains
 * it. Also gives it its id again, and masks the LVT entries that only Linux can have set up: CMCI
 * and AMD's extended entries
 */
void apic_hand_over(const struct pcpu *cpu);

/* True if a cell may write @value to an entry of its local vector table: fixed, NMI, or masked */
static inline bool lvt_fine(u32 value)
{
	return value & 1u << 16 || !(value & 3u << 8);
}

/* ipi.c */
/*
 * Sends the interrupts that the filter allows. If the command names a physical destination outside
 * this instance, logs it, sends nothing and returns false.
 */
bool icr_write(struct pcpu *cpu, u64 icr);
void icr_learn(struct pcpu *cpu);	/* reads the logical ids that Linux gave this CPU */

/* xapic.c: the steps of a write to the page, for cell/memory.c and front/memory.c */
struct xapic_write {
	u32 reg;
	u64 value;			/* of the ICR: with the destination, for icr_write() */
	struct decoded d;
};
/* A write to the page, which is trapped in xAPIC mode only */
bool xapic_page(u64 gpa, bool write);
/* Decodes the instruction. @w->value becomes the value to write. False: unknown instruction */
bool xapic_decode(struct pcpu *cpu, u64 gpa, struct xapic_write *w);
/*
 * Writes the register, or makes the filter send the interrupt: returns what icr_write() does. The
 * register @kept is for the filter only.
 */
bool xapic_carry_out(struct pcpu *cpu, const struct xapic_write *w, u32 kept);
/* Sets RFLAGS as the decoded instruction does, and skips the instruction */
void xapic_done(struct pcpu *cpu, const struct xapic_write *w);

/*
 * bell.c: the one place that decides when a bell may be sent. A sender keeps a word, the TSC of its
 * next turn: Linux with the manager has one for each cell, a cell has one for all ends of its
 * channels. It takes a turn before each interrupt, so it sends at most @rate in any millisecond.
 * Takes the turn and returns 0. If it is too soon, returns the TSC of the next turn, or waits for a
 * turn with @wait, unless TSCs differ by more than 2 ms. Only the manager, and a CPU of a cell that
 * does not run, may wait.
 */
u64 bell_turn(u64 *next, u32 rate, bool wait);

#endif
