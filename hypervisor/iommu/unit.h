/* SPDX-License-Identifier: GPL-2.0-only */
/* A unit of either kind, with the lock of units.c held. */
#ifndef QV_UNIT_H
#define QV_UNIT_H

#include "core/instance.h"

#define UNIT_REQUEST(u)	(16u << (u)->wide)	/* bytes */

/* VT-d (vtd.c) or AMD-Vi (amdvi.c) */
struct iommu_ops {
	u32 head, tail;			/* registers: offsets in the queue of requests */
	u32 status;			/* register of faults: Linux sees none, and clears none */
	/*
	 * Registers whose values of Linux are in .kept of a unit. Linux may change those from
	 * index @later on: the unit gets them when it is Linux's again
	 */
	const u16 *kept;
	u32 num_kept, later;
	/*
	 * A step of the take. 0: replaces the queue of Linux, whose requests are followed from then
	 * on; sets u->step to 1 before anything changes. 2 and more: fills the monitor's tables;
	 * the last one replaces the tables of Linux. Returns false if the unit does not answer, or
	 * has a state that the driver does not let pass: call .give() if u->step is not 0.
	 */
	bool (*take)(struct pcpu *cpu, struct iommu_unit *u);
	bool (*give)(struct pcpu *cpu, struct iommu_unit *u);	/* the reverse */
	/* Refuses the interrupts that name CPUs which Linux has lost since. Flushes nothing */
	void (*sweep)(struct pcpu *cpu, const struct iommu_unit *u);
	/* Drops all cached translations and interrupts. Waits for DMA under them */
	bool (*flush)(struct pcpu *cpu, struct iommu_unit *u);
	/* Logs and clears faults. Linux may have changed tables without a request. Returns true */
	bool (*look)(struct pcpu *cpu, struct iommu_unit *u, u32 unused);
	/* Linux writes a register; @reg is a multiple of 4. See unit_write() */
	void (*write)(struct pcpu *cpu, struct iommu_unit *u, u32 reg, u32 value);
	/* Adds a request that stores u->waits at @status when those before it are carried out */
	void (*wait)(struct iommu_unit *u, u64 status);
	/* Carries out a request of Linux; there is room for some. Returns false if it is refused */
	bool (*request)(struct pcpu *cpu, struct iommu_unit *u, u64 low, u64 high);
	/* Prepares the function for a cell. Returns false if the pool is empty */
	bool (*own)(struct pcpu *cpu, struct iommu_unit *u, u32 bdf);
	/*
	 * A function of the cell with the number @domain uses the table @root, or (0) reaches
	 * nothing; with the number of Linux, it is Linux's again: call .look(). Flushes nothing
	 */
	void (*set)(struct pcpu *cpu, struct iommu_unit *u, u32 bdf, u64 root, u32 domain);
	/*
	 * Makes the entries by which the function @bdf of a cell sends any vector from 32 on to the
	 * cell's CPU @apic_id: with VT-d those from @first on, REMAP_ADDRESS(@first). Or clears
	 * them, which needs a flush.
	 */
	void (*messages)(const struct iommu_unit *u, u32 first, u32 bdf, u32 apic_id, bool on);
};
extern const struct iommu_ops vtd_ops, amdvi_ops;

u32 unit_get(struct pcpu *cpu, struct iommu_unit *u, u32 reg);
void unit_set(struct pcpu *cpu, struct iommu_unit *u, u32 reg, u32 value);
/* Stores 8 bytes at once */
void unit_set64(struct pcpu *cpu, const struct iommu_unit *u, u32 reg, u64 value);
/* Waits until the bits @mask of the register are @value. Returns false if that takes too long */
bool unit_until(struct pcpu *cpu, struct iommu_unit *u, u32 reg, u32 mask, u32 value);
/* The place of a register whose value of Linux is kept; NULL for others */
u32 *unit_kept(struct iommu_unit *u, u32 reg);
u64 unit_kept64(struct iommu_unit *u, u32 reg);
/* Linux's accesses to registers, as both kinds of units have them, once the take has begun */
u32 unit_read(struct pcpu *cpu, struct iommu_unit *u, u32 reg);
void unit_write(struct pcpu *cpu, struct iommu_unit *u, u32 reg, u32 value);
/* Reads these registers, and prepares the monitor's queue */
void unit_keep(struct pcpu *cpu, struct iommu_unit *u);
/* Adds one request to the monitor's queue. unit_wait() waits until the unit has carried out all */
void unit_put(struct iommu_unit *u, u64 low, u64 high);
bool unit_wait(struct pcpu *cpu, struct iommu_unit *u);
bool unit_room(struct pcpu *cpu, struct iommu_unit *u);	/* waits if the queue is nearly full */
/*
 * Linux waits for its requests. Waits for the monitor's requests, and stores @len bytes (0, 4 or
 * 8) where the unit would for Linux. Returns false if Linux may not write there. The page may be
 * taken from Linux meanwhile: this CPU answers the flush after that only when it has left this
 * exit.
 */
bool unit_done(struct pcpu *cpu, struct iommu_unit *u, u32 len, u64 pa, u64 value);
/* Logs and counts that the unit blocked DMA to the address @info, or an interrupt by its entry */
void unit_fault(struct pcpu *cpu, bool interrupt, u32 bdf, u64 info);
/*
 * Linux has put requests into its queue, up to the offset @tail. Copies each once, checks it, and
 * carries it out. Returns the number of requests that were refused.
 */
u32 unit_queue(struct pcpu *cpu, struct iommu_unit *u, u32 tail);

#endif
