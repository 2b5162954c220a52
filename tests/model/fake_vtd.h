/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fake VT-d unit that caches: contexts, translations and entries of interrupts stay in its caches
 * until they are flushed, so that a forgotten flush shows. QEMU's unit has fewer caches. A program
 * that uses it is linked with --wrap=device_read and --wrap=device_write.
 */
#ifndef FAKE_VTD_H
#define FAKE_VTD_H

#include "fake.h"

#define FAKE_UNITS		4
#define FAKE_UNIT_AT(nr)	(0xfed90000ull + (nr) * QV_PAGE)
#define FAKE_RING_OF(nr)	((8ull << 20) + (nr) * QV_PAGE)		/* Linux's queue */
/* Linux's table of interrupts: 1,024 entries */
#define FAKE_IRT_OF(nr)		((11ull << 20) + (nr) * 65536ull)
/* Of the first unit */
#define FAKE_UNIT		FAKE_UNIT_AT(0)
#define FAKE_RING		FAKE_RING_OF(0)
#define FAKE_IRT		FAKE_IRT_OF(0)
#define FAKE_STATUS		(9ull << 20)	/* where Linux wants the end of a wait stored */
#define FAKE_ROOT		(10ull << 20)	/* Linux's root table: never read here */
#define FAKE_FAULTS		0x220u
#define FAKE_DOMAIN		100u

#define VTD_BY_PAGE		(3u << 4)	/* Linux asks so, the monitor never */

struct fake_vtd_unit {
	u32 regs[0x400];
	u64 root;		/* taken at SRTP */
	/* cached: the entry of the function with this number modulo 256, or zero; whose it is */
	u64 context[256][4];
	u32 function[256];
	/* scalable mode: the same of the entry of PASID 0 */
	u64 pasid[256][4];
	u32 pasid_function[256];
	/* cached translations: page | 1, the domain and the stage by which it was found */
	u64 tags[64], pages[64];
	u32 domains[64], stages[64];
	u32 interrupts;		/* number of flushes of interrupt entries */
	u64 irta;		/* taken at SIRTP */
	/* cached interrupt entries, whose number is this modulo 16 */
	u64 irtes[16][2];
	u32 which[16];
	bool cached[16];
	bool dead;		/* answers nothing */
	u32 accesses;		/* of its registers */
};
extern struct fake_vtd_unit fake_vtds[FAKE_UNITS];
extern u32 fake_vtd_nr;			/* the unit that all below is about */
#define fake_vtd	(fake_vtds[fake_vtd_nr])

/*
 * For fake_vtd_prepare(): 0: legacy mode, short requests; 1 or 2: scalable mode and long requests,
 * where the monitor's tables are of this stage; 3: as 2, but the unit nests, and tables of Linux
 * are of the first stage
 */
extern u32 fake_vtd_stage;
#define FAKE_NESTED	(fake_vtd_stage == 3)

u32 *fake_vtd_reg(u32 at);
void fake_vtd_store64(u64 pa, u64 value);	/* 8 bytes at once, to a register of any unit */
/* The address that DMA of device 0 to @pa reaches by the tables and caches of the unit; 0: none */
u64 fake_vtd_dma(u64 pa);
u64 fake_vtd_dma_of(u32 bdf, u64 address);	/* the same of another function */
/* The first half of the entry that the unit uses for a message with @index; 0: it is absent */
u64 fake_vtd_message(u32 index);
/* APIC id << 8 | vector of a message that the function @bdf sends; 0: the unit blocks it */
u64 fake_vtd_interrupt(u32 bdf, u32 address, u32 data);
/* Opens a machine whose Linux uses the unit, with five requests behind it */
struct pcpu *fake_vtd_open(bool translating);
void fake_vtd_prepare(bool translating);	/* the same, but makes no tables of devices */
/* After fake_vtd_prepare(): Linux uses @num units, all alike */
void fake_vtd_more(u32 num);
u32 fake_vtd_request(void);		/* bytes of a request */
/* Writes a request to Linux's queue, at the offset @at. Half of a long request is garbage */
void fake_vtd_put(u32 at, u64 low, u64 high);

/* Makes a test that runs this one in legacy mode and in the three kinds of scalable mode */
#define IN_EACH_MODE(test)						\
static void test##_in_each_mode(void)					\
{									\
	for (fake_vtd_stage = 0; fake_vtd_stage < 4; fake_vtd_stage++) {	\
		unit_case("stage %u", fake_vtd_stage);			\
		test();							\
	}								\
	fake_vtd_stage = 0;						\
}

#endif
