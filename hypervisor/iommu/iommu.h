/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The IOMMU belongs to the monitor from the call QV_HC_IOMMU until the call that gives it back. All
 * devices share one table: RAM of Linux by identity, without the monitor's and the cells' memory.
 * Linux's accesses to the registers of the units exit. This folder uses no part of svm/ and
 * vmx/, and both images contain the same objects of it.
 */
#ifndef QV_IOMMU_H
#define QV_IOMMU_H

#include "core/instance.h"

/* A context says for a function which table it uses: VT-d 3.3, 9.3 */
#define CONTEXT_PRESENT		1ull		/* first half, and entries of the root table */
#define CONTEXT_LEVELS4		2ull		/* second half: four levels of tables */
#define CONTEXT_DOMAIN(n)	((u64)(n) << 8)	/* second half: one number for each table */
#define CONTEXT_CELL		8ull		/* second half, ignored by units: a cell has it */
#define IO_OPEN			(PT_P | PT_W)	/* pages that a device may read and write */

/* ---- table.c: pure; the module compiles it as well ---- */
/*
 * Makes the table of devices, and the root and context tables that send all devices to it. The
 * driver runs it between identity_tables() and setup_rebase(). Linux loses the registers of the
 * units. Returns 0, or -1: the pool is empty.
 */
int iommu_tables(struct instance *inst);
/* True if the pool has enough pages for iommu_tables(). Call right before it. Nothing changes */
bool iommu_fits(const struct instance *inst);
/*
 * Devices follow Linux's access to the pages [@pa, +@len). A page of 2 MiB opens as a whole or not
 * at all: it closes if Linux loses a part of it or may only read a part, and opens when Linux gets
 * all of it.
 */
void iommu_follow(struct instance *inst, u64 pa, u64 len, bool all);

/* Writes back [@at, +@len) from the caches: a unit may read tables past them */
static inline void table_write_back(const void *at, u32 len)
{
	const u8 *line = at, *end = line + len;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (; line < end; line += 64)
		asm volatile("clflush (%0)" : : "r"(line) : "memory");
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/*
 * Writes an entry of two halves, the first of which has the bit "present". If the second half
 * changes, the entry is absent meanwhile: a unit may not see halves of two entries.
 */
static inline void table_write_pair(u64 *at, u64 low, u64 high)
{
	if (at[1] != high) {
		__atomic_store_n(&at[0], 0, __ATOMIC_RELEASE);
		__atomic_store_n(&at[1], high, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&at[0], low, __ATOMIC_RELEASE);
	table_write_back(at, 16);
}

/* ---- vtd.c: a unit, with the lock of units.c held ---- */
/*
 * Replaces the queue and the tables of Linux. Returns false if the unit does not answer, or has a
 * state that the driver does not let pass. Then it is as before, as far as it answers.
 */
bool vtd_take(struct pcpu *cpu, struct iommu_unit *u);
bool vtd_give(struct pcpu *cpu, struct iommu_unit *u);	/* the reverse */
/* Drops all cached translations and entries of interrupts. Waits for DMA under them */
bool vtd_flush(struct pcpu *cpu, struct iommu_unit *u);
/* Adds one request to the monitor's queue. vtd_wait() waits until the unit has carried out all */
void vtd_put(struct iommu_unit *u, u64 low, u64 high);
bool vtd_wait(struct pcpu *cpu, struct iommu_unit *u);

/* The place of a register whose value of Linux is kept; NULL for others */
u32 *vtd_kept(struct iommu_unit *u, u32 reg);
void vtd_faults(struct pcpu *cpu, struct iommu_unit *u);	/* logs and clears faults */

/* ---- contexts.c: which table the functions of a bus use; with the lock of units.c held ---- */
/* Call before the unit uses its root table. Returns false if the pool is empty */
bool contexts_begin(struct pcpu *cpu, struct iommu_unit *u);
void contexts_follow(struct pcpu *cpu, struct iommu_unit *u);	/* Linux may have changed tables */
/* Gives the bus a table of contexts in the monitor, with the same entries. It stays */
bool contexts_own(struct pcpu *cpu, struct iommu_unit *u, u32 bus);
/* A function of a cell is Linux's again. Call contexts_follow() after it */
void contexts_give(const struct iommu_unit *u, u32 bdf);
/* The bus has a table in the monitor */
u64 *contexts_entry(const struct iommu_unit *u, u32 bdf);

/* ---- irt.c: the table of interrupts, if the unit remaps interrupts ---- */
/*
 * Copies entries of Linux's table, and refuses those that could reach other CPUs than Linux's CPUs.
 * Of entries beyond the monitor's table it looks at the first one only.
 * Flushes nothing. Returns false if the table is not in Linux's memory.
 */
bool irt_copy(struct pcpu *cpu, const struct iommu_unit *u, u32 first, u32 num);
/* Refuses the entries that name CPUs which Linux has lost since. Flushes nothing */
void irt_sweep(struct pcpu *cpu, const struct iommu_unit *u);
/*
 * Makes the entries from @first on by which the function @bdf of a cell sends any vector from 32 on
 * to the cell's CPU @apic_id: REMAP_ADDRESS(@first). Or clears them, which needs a flush.
 */
void irt_messages(const struct iommu_unit *u, u32 first, u32 bdf, u32 apic_id, bool on);

/* ---- queue.c ---- */
/*
 * Linux has put requests into its queue, up to the offset @tail. Copies each once, checks it, and
 * carries it out. Returns the number of requests that were refused.
 */
u32 vtd_queue(struct pcpu *cpu, struct iommu_unit *u, u32 tail);

/* ---- access.c: Linux's accesses to registers ---- */
u32 vtd_read(struct pcpu *cpu, struct iommu_unit *u, u32 reg);
void vtd_write(struct pcpu *cpu, struct iommu_unit *u, u32 reg, u32 value);

/* ---- units.c: all units ---- */
u32 iommu_units(void);
bool iommu_page(u64 gpa);		/* true if @gpa is in the registers of a unit */
/* Emulates an instruction of Linux there. Returns false if it is unknown */
bool iommu_access(struct pcpu *cpu, u64 gpa, bool write);
bool iommu_take(struct pcpu *cpu);	/* all units or none */
/* False: the lock is not free and nothing changed, or a unit did not answer and none is owned */
bool iommu_give(struct pcpu *cpu);
/*
 * Call after iommu_follow(), and after CPUs were taken from Linux, before either is used. False: a
 * unit does not answer.
 */
bool iommu_flush(struct pcpu *cpu);
bool iommu_look(struct pcpu *cpu);	/* logs DMA that was blocked. False: the lock is not free */
/* Prepares the bus for functions of cells. False: the pool is empty, or the lock is not free */
bool iommu_own(struct pcpu *cpu, u32 bus);

/* ---- cell.c: devices of cells ---- */
/* False: a unit does not answer, so devices of the stopped cell may still reach its memory */
bool iommu_settled(struct pcpu *cpu, u64 id);

/* ---- call.c ---- */
u64 call_iommu(struct pcpu *cpu, u64 what, u64 unused);	/* QV_HC_IOMMU */

#endif
