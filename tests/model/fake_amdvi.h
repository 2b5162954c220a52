/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fake AMD-Vi unit that caches: entries of devices, translations and entries of interrupts stay
 * in its caches until they are flushed, so that a forgotten flush shows. QEMU's unit has fewer
 * caches. Linked as fake_vtd.h says, and with --wrap=unit_set64.
 */
#ifndef FAKE_AMDVI_H
#define FAKE_AMDVI_H

#include "fake.h"

#define FAKE_AMDVI_LEN		0x4000u
#define FAKE_AMDVIS		4
#define FAKE_AMDVI_AT(nr)	(0xfed80000ull + (nr) * FAKE_AMDVI_LEN)
#define FAKE_AMDVI_RING_OF(nr)	((8ull << 20) + (nr) * 8192ull)	/* Linux's queue: 512 requests */
#define FAKE_AMDVI		FAKE_AMDVI_AT(0)		/* of the first unit */
#define FAKE_AMDVI_RING		FAKE_AMDVI_RING_OF(0)
#define FAKE_AMDVI_STATUS	(9ull << 20)	/* where Linux wants the end of a wait stored */
#define FAKE_AMDVI_DEVICES	(10ull << 20)	/* Linux's table of devices: 256 entries */
#define FAKE_AMDVI_IRT		(11ull << 20)	/* of device 0x80: 512 entries */
#define FAKE_AMDVI_EVENTS	(12ull << 20)
#define FAKE_AMDVI_DOMAIN	100u		/* the first one of the monitor */

struct fake_amdvi_unit {
	u32 regs[FAKE_AMDVI_LEN / 4];
	u64 device[256][4];		/* cached entries */
	bool known[256];
	u64 tags[64], pages[64];	/* cached translations: page | 1 */
	u32 domains[64];
	u64 irtes[16][2];		/* cached entries of interrupts, by number modulo 16 */
	u32 whose[16];			/* bdf << 16 | number, plus 1; 0: free */
	bool dead;			/* answers nothing */
	u32 accesses;			/* of its registers */
};
extern struct fake_amdvi_unit fake_amdvis[FAKE_AMDVIS];
extern u32 fake_amdvi_nr;		/* the unit that all below is about */
#define fake_amdvi	(fake_amdvis[fake_amdvi_nr])

u32 *fake_amdvi_reg(u32 at);
u64 fake_amdvi_reg64(u32 at);
bool fake_amdvi_has(u64 pa);
u32 fake_amdvi_load(u64 pa);		/* these two, from any unit */
void fake_amdvi_store(u64 pa, u32 value);
/* The address that DMA of the device reaches by the tables and caches of the unit; 0: none */
u64 fake_amdvi_dma(u32 bdf, u64 address);
/* APIC id << 8 | vector of a message of the device; 0: the unit blocks it */
u64 fake_amdvi_message(u32 bdf, u32 data);
void fake_amdvi_event(u64 low, u64 high);	/* the unit logs an event */
/* Opens a machine whose Linux uses the unit. The device 0x80 has a domain, and interrupts */
struct pcpu *fake_amdvi_open(bool translating);
struct pcpu *fake_amdvi_open_many(bool translating, u32 num);	/* units, all alike */
void fake_amdvi_device(u32 bdf, u64 low, u64 high, u64 irt);	/* writes Linux's entry */
/* Linux makes a request */
void fake_amdvi_request(struct pcpu *cpu, u64 low, u64 high);

#endif
