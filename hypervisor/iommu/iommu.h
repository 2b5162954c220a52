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


/* ---- table.c: pure; the module compiles it as well ---- */
/*
 * Devices follow Linux's access to the pages [@pa, +@len). A page of 2 MiB opens as a whole or not
 * at all: it closes if Linux loses a part of it or may only read a part, and opens when Linux gets
 * all of it.
 */
void iommu_follow(struct instance *inst, u64 pa, u64 len, bool all);

/*
 * VT-d in scalable mode, whose tables are of the @stage: makes the tables that send a function to
 * the table @root, with the number @domain. Returns what its context names; 0: the pool is empty.
 */
u64 iommu_pasids(struct pt_pool *pool, u32 stage, u64 root, u32 domain);

/* Writes back [@at, +@len) from the caches: a unit may read tables past them */
static inline void table_write_back(const void *at, u32 len)
{
	const u8 *line = at, *end = line + len;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (; line < end; line += 64)
		asm volatile("clflush (%0)" : : "r"(line) : "memory");
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Writes a word of a table in one step */
static inline void table_store(u64 *at, u64 word)
{
	__atomic_store_n(at, word, __ATOMIC_RELEASE);
	table_write_back(at, 8);
}

/* Replaces an entry of two halves at once. Returns false if it has changed meanwhile */
static inline bool table_exchange(u64 *at, u64 old_low, u64 old_high, u64 low, u64 high)
{
	bool done = old_low == low && old_high == high;

	if (done)
		return true;
	asm volatile("lock cmpxchg16b %0"
		     : "+m"(*(u64 (*)[2])at), "+a"(old_low), "+d"(old_high), "=@ccz"(done)
		     : "b"(low), "c"(high) : "memory");
	table_write_back(at, 16);
	return done;
}

/* The same in any case. A CPU that follows Linux may change the entry meanwhile, once at most */
static inline void table_write(u64 *at, u64 low, u64 high)
{
	while (!table_exchange(at, at[0], at[1], low, high))
		;
}

/*
 * irt.c: Linux has the entry @index in its table of interrupts. Writes it to @at in the monitor's
 * table, if there is a place, or refuses it (not @ok), counts and logs
 */
void irt_set(struct pcpu *cpu, u64 *at, u32 index, bool ok, u64 low, u64 high);

/* ---- units.c: all units ---- */
u32 iommu_units(void);
bool iommu_page(u64 gpa);		/* true if @gpa is in the registers of a unit */
/* Emulates an instruction of Linux there. Returns false if it is unknown */
bool iommu_access(struct pcpu *cpu, u64 gpa, bool write);
/*
 * One step of the take of all units. If a unit does not succeed, none is owned, and no step is
 * made. False: the lock is not free, and nothing changed
 */
bool iommu_take(struct pcpu *cpu);
/* False: the lock is not free and nothing changed, or a unit did not answer and none is owned */
bool iommu_give(struct pcpu *cpu);
/*
 * Call after iommu_follow(), and after CPUs were taken from Linux, before either is used. False: a
 * unit does not answer.
 */
bool iommu_flush(struct pcpu *cpu);
bool iommu_look(struct pcpu *cpu);	/* logs DMA that was blocked. False: the lock is not free */
/* Prepares the function for a cell. False: the pool is empty, or the lock is not free */
bool iommu_own(struct pcpu *cpu, u32 bdf);

/* ---- cell.c: devices of cells ---- */
/* False: a unit does not answer, so devices of the stopped cell may still reach its memory */
bool iommu_settled(struct pcpu *cpu, u64 id);

/* ---- call.c ---- */
u64 call_iommu(struct pcpu *cpu, u64 what, u64 unused);	/* QV_HC_IOMMU */

#endif
