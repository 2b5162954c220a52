/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions, atomic accesses, and copying. */
#ifndef QV_CPU_H
#define QV_CPU_H

#include "instance.h"

static inline u64 rdtsc(void)
{
	u32 lo, hi;

	asm volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (u64)hi << 32 | lo;
}

static inline u64 rdmsr(u32 msr)
{
	u32 lo, hi;

	asm volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr));
	return (u64)hi << 32 | lo;
}

static inline void wrmsr(u32 msr, u64 value)
{
	asm volatile("wrmsr" : : "c"(msr), "a"((u32)value), "d"((u32)(value >> 32)) : "memory");
}

static inline void cpuid(u32 leaf, u32 sub, u32 r[4])
{
	asm volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
		     : "a"(leaf), "c"(sub));
}

static inline void invlpg(u64 va)
{
	asm volatile("invlpg (%0)" : : "r"(va) : "memory");
}

static inline void pause(void)
{
	asm volatile("pause" : : : "memory");
}

static inline u32 atomic_or(u32 *p, u32 v)
{
	return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);
}

/* Replaces @from by @to. Returns false if *@p is not @from */
static inline bool atomic_replace(u32 *p, u32 from, u32 to)
{
	return __atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static inline u32 load(const u32 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);

#endif
