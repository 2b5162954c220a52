/* SPDX-License-Identifier: GPL-2.0-only */
/* Registers, tables and requests of AMD-Vi: AMD I/O Virtualization Technology 3.06, 2 and 3.4. */
#ifndef QV_AMDVI_H
#define QV_AMDVI_H

#include "iommu/unit.h"

#define AMDVI_DEVICES	0x00		/* the table of devices; bits 8..0: its pages, minus 1 */
#define AMDVI_QUEUE	0x08
#define AMDVI_EVENTS	0x10
#define AMDVI_LEN(reg)	(16u << ((reg) >> 56 & 15))	/* of AMDVI_QUEUE: bytes */
#define AMDVI_ONE_PAGE	(8ull << 56)
#define AMDVI_CONTROL	0x18
#define AMDVI_HEAD	0x2000
#define AMDVI_TAIL	0x2008
#define AMDVI_EV_HEAD	0x2010
#define AMDVI_EV_TAIL	0x2018
#define AMDVI_STATUS	0x2020
#define AMDVI_OVERFLOW	(1u << 0)	/* in AMDVI_STATUS; writing one clears it */
#define AMDVI_RUN	(3u << 3)	/* in AMDVI_STATUS: events and requests are carried out */
#define AMDVI_MESSAGES	0x170		/* three messages of the unit itself, 8 bytes each */

#define AMDVI_ON	(1ull << 0)
#define AMDVI_EV_ON	(1ull << 2)
#define AMDVI_Q_ON	(1ull << 12)
#define AMDVI_GA	(1ull << 17)	/* entries of interrupts have 16 bytes */
#define AMDVI_WIDE	(1ull << 50)	/* destinations of 32 bits */
/* Interrupts of the unit, logs of requests of devices and of virtual machines */
#define AMDVI_OFF_FOR_US (3ull << 3 | 7ull << 13 | 7ull << 25 | 3ull << 28 | 1ull << 51)

/* A device's entry: four words */
#define DTE_LEN		32u
#define DTE_VALID	3ull		/* word 0: the entry, and its table */
#define DTE_MODE(low)	((low) >> 9 & 7)	/* levels of tables */
#define DTE_LEVELS4	(4ull << 9)
#define DTE_OPEN	(3ull << 61)	/* word 0, and entries of tables: reads, writes */
#define DTE_LOW		(DTE_VALID | 7ull << 9 | PT_ADDR | DTE_OPEN)
#define DTE_DOMAIN(high) ((u32)(high) & 0xffff)		/* word 1 */
#define DTE_REMAP	1ull		/* word 2: a table of interrupts, or all are blocked */
#define DTE_IRT_LEN	(9ull << 1)	/* 512 entries */
#define DTE_IRT(word)	((word) & 0xfffffffffffc0ull)
#define DTE_IRTES(word)	(1u << ((word) >> 1 & 15))
#define DTE_BY_IRT	(2ull << 60)	/* of DTE_CONTROL: interrupts go by the table */
#define DTE_CONTROL	(3ull << 60)

#define AMDVI_KIND(low)	((u32)((low) >> 60))
#define AMDVI_REQUEST(n) ((u64)(n) << 60)
enum amdvi_request {
	AMDVI_WAIT = 1, AMDVI_DEVICE, AMDVI_PAGES, AMDVI_INTERRUPTS = 5, AMDVI_ALL = 8
};
#define AMDVI_WAIT_STORE 1ull		/* stores the second half at bits 51..3 */
#define AMDVI_WAIT_IRQ	2ull
#define AMDVI_PAGES_LOW	(0xffffull << 32)	/* the domain */
#define AMDVI_PAGES_HIGH (~0xfffull | 3)	/* address; more than a page, tables too */
#define AMDVI_GUEST	4ull		/* second half of AMDVI_PAGES: tables of virtual machines */

enum amdvi_event { AMDVI_BAD_ENTRY = 1, AMDVI_FAULT };
#define AMDVI_OF_IRQ	(1ull << 51)	/* in an event: of an interrupt */

static inline struct qv_mon_iommu_ids *amdvi_ids(void)
{
	return (void *)pt_table(&me()->pt_pool, me()->iommu.ids);
}

#define AMDVI_PIECES	4u	/* steps of the take that copy a device's table of interrupts */
/*
 * Follows Linux's entry of the device @bdf, and @num entries of its table of interrupts, of which
 * some may be refused. Returns false if the monitor's tables have no place for it
 */
bool amdvi_follow(struct pcpu *cpu, const struct iommu_unit *u, u32 bdf, u32 first, u32 num);
void amdvi_irt_sweep(struct pcpu *cpu, const struct iommu_unit *u);	/* as irt_sweep() */
bool amdvi_own(struct pcpu *cpu, struct iommu_unit *u, u32 bdf);
void amdvi_messages(const struct iommu_unit *u, u32 first, u32 bdf, u32 apic_id, bool on);
void amdvi_set(struct pcpu *cpu, struct iommu_unit *u, u32 bdf, u64 root, u32 domain);

#endif
