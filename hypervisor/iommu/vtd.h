/* SPDX-License-Identifier: GPL-2.0-only */
/* Registers and requests of VT-d: Intel VT-d specification 3.3, 6.5.2 and 11.4. */
#ifndef QV_VTD_H
#define QV_VTD_H

#include "iommu/unit.h"

#define VTD_CAP		0x08
#define VTD_GCMD	0x18
#define VTD_GSTS	0x1c
#define VTD_RTADDR	0x20
#define VTD_MODE	(me()->boot.iommus.stage ? 0x400u : 0)	/* in VTD_RTADDR: scalable */
#define VTD_FSTS	0x34
#define VTD_FSTS_ALL	0x7f		/* writing ones clears them */
#define VTD_FAULTS_AT(cap)	(((cap) >> 24 & 0x3ff) * 16)	/* 64 bits of VTD_CAP */
#define VTD_FAULTS_NUM(cap)	(((cap) >> 40 & 0xff) + 1)
#define VTD_FAULT	(1u << 31)	/* in the last word of a record: it is in use */
#define VTD_OF_IRQ(last) (((last) & 0xf0) == 0x20)	/* it is of an interrupt */
#define VTD_FECTL	0x38		/* and three registers that follow: the fault interrupt */
#define VTD_IQH		0x80
#define VTD_IQT		0x88
#define VTD_IQA		0x90
#define VTD_LONG	0x801u		/* in VTD_IQA: a queue of 256 requests of 32 bytes */
#define VTD_IS_LONG(iqa) ((iqa) >> 11 & 1)	/* requests have 32 bytes */
#define VTD_IRTA	0xb8
#define VTD_IRTES(irta)	(2u << ((irta) & 15))	/* number of entries */
#define VTD_WIDE	(1u << 11)	/* in VTD_IRTA: destinations of 32 bits */

#define VTD_TE		(1u << 31)	/* translation */
#define VTD_SRTP	(1u << 30)	/* take the root table of VTD_RTADDR */
#define VTD_QIE		(1u << 26)	/* the queue of requests */
#define VTD_IRE		(1u << 25)	/* interrupt remapping */
#define VTD_SIRTP	(1u << 24)
#define VTD_CFI		(1u << 23)
#define VTD_LASTING	(VTD_TE | VTD_QIE | VTD_IRE | VTD_CFI)
#define VTD_ONCE	(VTD_SRTP | VTD_SIRTP)
#define VTD_MASKED	(1u << 31)	/* in VTD_FECTL: no fault interrupts */

enum vtd_request {			/* bits 3..0 of a request */
	VTD_CONTEXTS = 1, VTD_IOTLB, VTD_DEVICE_TLB, VTD_INTERRUPTS, VTD_WAIT,
	VTD_PASID_IOTLB, VTD_PASIDS, VTD_PASID_DEVICE_TLB	/* of scalable mode */
};
#define VTD_GLOBAL	(1u << 4)	/* VTD_CONTEXTS, VTD_IOTLB */
#define VTD_ALL_PASIDS	(3u << 4)	/* VTD_PASIDS */
#define VTD_DRAIN	(3u << 6)	/* VTD_IOTLB: reads and writes under way come first */
#define VTD_BY_DOMAIN	(2u << 4)	/* VTD_IOTLB, VTD_PASID_IOTLB; 3u: some pages of a domain */
#define VTD_GRANULARITY(low) ((low) >> 4 & 3)
#define VTD_DOMAIN	(0xffffull << 16)
#define VTD_PASID	(0xfffffull << 32)	/* VTD_PASID_IOTLB */
#define VTD_SOME	(1u << 4)	/* VTD_INTERRUPTS: not all entries, but 1 << bits 31..27 */
#define VTD_NUM(low)	(1ull << ((low) >> 27 & 31))
#define VTD_FIRST(low)	((u32)((low) >> 32) & 0xffff)
#define VTD_WAIT_IRQ	(1u << 4)
#define VTD_WAIT_STORE	(1u << 5)	/* stores bits 63..32 at the address of the second half */
#define VTD_WAIT_FENCE	(1u << 6)

/* A context says for a function which table it uses: VT-d 3.3, 9.3 */
#define CONTEXT_PRESENT		1ull		/* first half, and entries of the root table */
#define CONTEXT_LEVELS4		2ull		/* second half: four levels of tables */
#define CONTEXT_DOMAIN(n)	((u64)(n) << 8)	/* second half: one number for each table */
#define CONTEXT_CELL		8ull		/* second half, ignored by units: a cell has it */
/*
 * Scalable mode: a context names a directory of tables of PASIDs, and has four words. The entry of
 * PASID 0 says which table the function uses. The directory of a cell has this size (first word).
 */
#define CONTEXT_CELL_PASIDS	(1ull << 9)
#define CONTEXT_PASIDS	(4ull << 9)	/* size of the directory of units that nest: 4 pages */
#define PASIDS		64u		/* entries of a table of PASIDs */
#define PASID_LEN	32u		/* bytes of an entry that are in use */
#define PASID_KIND(low)		((low) & (7ull << 6 | 1))
/* By tables of the stage 1 or 2. 3: all addresses of stage 1 pass stage 2 (nested) */
#define PASID_STAGE(n)		((u64)(n) << 6 | 1)
#define PASID_IDENTITY		4			/* instead: not translated */
#define PASID_LEVELS4		(2ull << 2)	/* of tables of the second stage */
#define PASID_HIGH		(3ull << 23 | 0xffff)	/* the unit looks into caches; domain */

#define VTD_PIECES	512u	/* steps that copy tables: 4 entries of interrupts, half a bus */

/* ---- contexts.c: which table the functions of a bus use ---- */
/*
 * Call for each half of a bus before the unit uses its root table. Returns false if the pool is
 * empty
 */
bool contexts_begin(struct pcpu *cpu, struct iommu_unit *u, u32 bdf);
void contexts_follow(struct pcpu *cpu, struct iommu_unit *u);	/* Linux may have changed tables */
/* Gives the bus of @bdf a table of contexts in the monitor, with the same entries. It stays */
bool contexts_own(struct pcpu *cpu, struct iommu_unit *u, u32 bdf);
/* As .set() of unit.h */
void contexts_set(struct pcpu *cpu, struct iommu_unit *u, u32 bdf, u64 root, u32 domain);

/* ---- irt.c: the table of interrupts, if the unit remaps interrupts ---- */
/*
 * Copies entries of Linux's table, and refuses those that could reach other CPUs than Linux's CPUs.
 * Of entries beyond the monitor's table it looks at the first one only.
 * Flushes nothing. Returns false if the table is not in Linux's memory.
 */
bool irt_copy(struct pcpu *cpu, const struct iommu_unit *u, u32 first, u32 num);
/* As .sweep() of unit.h */
void irt_sweep(struct pcpu *cpu, const struct iommu_unit *u);
/* As .messages() of unit.h */
void irt_messages(const struct iommu_unit *u, u32 first, u32 bdf, u32 apic_id, bool on);

/* ---- for vtd_ops ---- */
/* Of all functions: adds requests. vtd_linux.c */
void vtd_flush_contexts(struct pcpu *cpu, struct iommu_unit *u);
bool vtd_request(struct pcpu *cpu, struct iommu_unit *u, u64 low, u64 high);	/* vtd_linux.c */
void vtd_write(struct pcpu *cpu, struct iommu_unit *u, u32 reg, u32 value);

#endif
